"""How a program mounts Parley's mail tools for a model: a few at a time, and macros for small ones.

Needs no package. Beside `npm start`:  python3 examples/client_bootstrap.py messaging [--small] [agent project]
examples/client_bootstrap.ts is the same with the official client.
"""
import json
import os
import sys
import urllib.parse
import urllib.request

URL = os.environ.get("PARLEY_URL", "http://127.0.0.1:8765")


def read(uri):
    """A resource, by one plain request: no session is needed."""
    body = {"jsonrpc": "2.0", "id": 1, "method": "resources/read", "params": {"uri": uri}}
    headers = {"Content-Type": "application/json"}
    if os.environ.get("PARLEY_TOKEN"):
        headers["Authorization"] = "Bearer " + os.environ["PARLEY_TOKEN"]
    request = urllib.request.Request(URL + "/mcp", json.dumps(body).encode(), headers)
    with urllib.request.urlopen(request, timeout=30) as answer:
        answer = json.load(answer)
    if "error" in answer:
        raise SystemExit(answer["error"]["message"])
    return json.loads(answer["result"]["contents"][0]["text"])


def bootstrap(cluster, small=False, agent=None, project=None):
    # 1. What there is, before any tool is shown to the model.
    clusters = read("resource://tooling/directory")["clusters"]
    names = [one["name"] for one in clusters]
    if cluster not in names:
        raise SystemExit(f"There is no cluster {cluster}: {', '.join(names)}.")
    # 2. Only the cluster of this phase; 4. for a small model, the macros.
    active = [tool["name"] for one in clusters if one["name"] == cluster for tool in one["tools"]]
    macros = [tool["name"] for one in clusters for tool in one["tools"] if tool["name"].startswith("macro_")]
    tools = list(dict.fromkeys(macros if small else active))
    # 3. How they fare.
    used = read("resource://tooling/metrics")["tools"]
    metrics = [{key: one[key] for key in ("name", "calls", "errors")} for one in used if one["name"] in tools]
    # 5. What was done lately.
    asked = urllib.parse.urlencode({key: value for key, value in (("agent", agent), ("project", project)) if value})
    recent = read("resource://tooling/recent/60" + (f"?{asked}" if asked else ""))["count"]
    return {"clusters": names, "tools": tools, "metrics": metrics, "recent": recent}


if __name__ == "__main__":
    words = [word for word in sys.argv[1:] if word != "--small"]
    cluster, agent, project = (words + [None, None, None])[:3]
    print(json.dumps(bootstrap(cluster or "messaging", "--small" in sys.argv, agent, project)))
