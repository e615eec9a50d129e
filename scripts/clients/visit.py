"""One visit of a Python client, the official one or FastMCP's: calls a tool, reads a resource, closes, and prints both."""

import asyncio
import json
import sys

visit = json.loads(sys.argv[1])
at, era = visit["at"], visit["era"]


def official():
    from mcp import Client, StdioServerParameters

    return Client(at if isinstance(at, str) else StdioServerParameters(**at), mode=era)


def fastmcp():
    from fastmcp import Client
    from fastmcp.client.transports import StdioTransport

    # A transport that is kept alive would outlive the client.
    return Client(at if isinstance(at, str) else StdioTransport(**at, keep_alive=False))


async def main():
    async with official() if visit["client"] == "mcp" else fastmcp() as client:
        result = await client.call_tool(visit["tool"], visit["args"])
        read = await client.read_resource(visit["uri"]) if visit["uri"] else None
        data = None
        for tool, args in visit["calls"]:
            data = (await client.call_tool(tool, args)).data
    if getattr(result, "is_error", False):
        sys.exit(f"the tool failed: {result}")
    print(json.dumps({"result": str(result), "read": str(read), "data": repr(data)}))


asyncio.run(main())
