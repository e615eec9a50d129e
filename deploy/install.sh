#!/bin/sh
# Installs Parley for this user: the package, the operator's token, the clients that are found, and a server in the background.
set -eu

usage() {
  cat <<'TEXT'
Usage: install.sh [--yes] [--dir FOLDER] [--port NUMBER] [--no-start] [--token TOKEN] [--dry-run] [--uninstall]
       install.sh --system …   for a server: a user, a service, its settings (install.sh --system --help)

  --yes        do not ask
  --dir        where to install (default: ~/.local): FOLDER/bin/parley
  --port       the port to serve on (default: 8765)
  --no-start   install only
  --token      the operator's token; else one is made
  --dry-run    say what would be done, and do nothing
  --uninstall  stop the server, take the clients' settings and the package out; mail and the token stay

PARLEY_PACKAGE names what npm installs, for example a tarball (default: the checkout that this script stands in, else parley-hub).
TEXT
}

fail() {
  echo "install.sh: $1" >&2
  exit "${2:-1}"
}

for word in "$@"; do
  [ "$word" != --system ] || exec sh "$(dirname "$0")/systemd/install.sh" "$@"
done

yes= dry= uninstall= start=yes dir="$HOME/.local" port= token=
value() { [ $# -ge 2 ] && [ -n "$2" ] || fail "$1 needs a value. install.sh --help shows how to use it." 2; }
while [ $# -gt 0 ]; do
  case $1 in
    --yes) yes=yes ;;
    --dry-run) dry=yes ;;
    --uninstall) uninstall=yes ;;
    --no-start) start= ;;
    --dir) value "$@"; dir=$2; shift ;;
    --port) value "$@"; port=$2; shift ;;
    --token) value "$@"; token=$2; shift ;;
    --help | -h) usage; exit 0 ;;
    *) fail "unknown option $1. install.sh --help lists the options." 2 ;;
  esac
  shift
done
case $port in *[!0-9]*) fail "--port takes a number." 2 ;; esac
case $token in *[!!-~]*) fail "--token takes letters, digits and signs without spaces." 2 ;; esac
[ -z "$token" ] || [ ${#token} -ge 16 ] || fail "--token takes 16 characters or more." 2
case $dir in /*) ;; *) dir=$PWD/$dir ;; esac
command -v npm >/dev/null || fail "npm is missing. Install Node 20 or newer, which brings it, then run this again."

checkout=$(cd "$(dirname "$0")/.." 2>/dev/null && pwd)
[ -f "$checkout/deploy/install.sh" ] && grep -q '"name": "parley-hub"' "$checkout/package.json" 2>/dev/null || checkout=
package=${PARLEY_PACKAGE:-${checkout:-parley-hub}}
parley=$dir/bin/parley
settings=$HOME/.parley/.env

# A setting as the files of settings have it.
kept_in_files() {
  for file in "${PARLEY_ENV_FILE:-}" ${checkout:+"$checkout/.env"} "$settings"; do
    found=$(sed -n "s/^[[:space:]]*\(export[[:space:]]\{1,\}\)\{0,1\}$1[[:space:]]*=[[:space:]]*//p" "$file" 2>/dev/null |
      tail -n 1 | sed -e "s/^\([\"']\)\(.*\)\1.*$/\2/" -e t -e 's/[[:space:]]*#.*$//' -e 's/[[:space:]]*$//')
    [ -z "$found" ] || { printf '%s' "$found"; return; }
  done
}

store=${STORAGE_ROOT:-$(kept_in_files STORAGE_ROOT)}
case $store in '') store=$HOME/.parley ;; '~') store=$HOME ;; '~/'*) store=$HOME/${store#'~/'} ;; esac
set_token=$(kept_in_files HTTP_BEARER_TOKEN)
[ -z "$set_token" ] || [ -z "$token" ] ||
  fail "HTTP_BEARER_TOKEN stands in the files of settings, and counts before --token. Take it out there, or leave --token out." 2

if [ -n "$uninstall" ]; then
  echo "This will stop the server, take Parley out of the clients (parley init --uninstall --user), and out of $dir."
else
  echo "This will:"
  echo "  1. install $package into $dir (npm install --global --prefix)"
  if [ -n "$set_token" ]; then echo "  2. leave the operator's token as it is, in the files of settings (HTTP_BEARER_TOKEN)"
  else echo "  2. keep the operator's token in $store/operator.token (mode 600)"; fi
  echo "  3. set up the clients that it finds, for all folders (parley init --user)"
  [ -z "$start" ] || echo "  4. start a server in the background on port ${port:-8765}"
  [ -z "${port#0}" ] || echo "  5. keep the port in $settings (HTTP_PORT)"
fi
if [ -n "$dry" ]; then
  echo "Nothing was done: this is a dry run."
  exit 0
fi
if [ -z "$yes" ]; then
  [ -t 0 ] || fail "nobody is there to answer. Pass --yes to go on." 2
  printf 'Go on? [y/N] '
  read -r answer
  case $answer in y | Y | yes) ;; *) fail "nothing was done." ;; esac
fi

if [ -n "$uninstall" ]; then
  [ -x "$parley" ] || fail "there is no $parley. Name the folder it was installed into with --dir."
  "$parley" stop || true
  "$parley" init --uninstall --user --yes
  npm uninstall --global --prefix "$dir" --loglevel error parley-hub
  echo "Taken out. Mail and the operator's token stay in $store."
  ! grep -qs '^HTTP_PORT=' "$settings" || echo "HTTP_PORT stays in $settings."
  exit 0
fi

# A checkout is linked, and built meanwhile: for that it has its packages.
[ "$package" != "$checkout" ] || [ -d "$checkout/node_modules" ] || (cd "$checkout" && npm ci)
npm install --global --prefix "$dir" --no-audit --no-fund --loglevel error "$package"

if [ -n "$token" ]; then
  (umask 077 && mkdir -p "$store" && printf '%s\n' "$token" >"$store/operator.token.$$" && mv "$store/operator.token.$$" "$store/operator.token")
elif [ -z "$set_token" ] && [ ! -s "$store/operator.token" ]; then
  # A token in the environment counts before the file, and would keep this one from being made.
  env -u HTTP_BEARER_TOKEN "$parley" token new >/dev/null
fi
if [ -n "$set_token" ]; then
  token_at="in the files of settings (HTTP_BEARER_TOKEN)"
else
  set_token=$(cat "$store/operator.token")
  token_at="in $store/operator.token; \`parley token show\` prints it"
fi
hidden=$(printf '%.4s' "$set_token")…

# The next `parley serve` takes it too: the clients are set up for it. 0 is any free one.
if [ -n "${port#0}" ]; then
  (umask 077 && mkdir -p "$HOME/.parley" && { grep -v '^HTTP_PORT=' "$settings" 2>/dev/null || true; echo "HTTP_PORT=$port"; } >"$settings.$$" && mv "$settings.$$" "$settings")
fi
[ -z "$start" ] || "$parley" serve --detach ${port:+--port "$port"}
clients='by parley init'
"$parley" init --user --yes || clients='parley init failed; its words are above'

echo
echo "Installed  $parley ($("$parley" --version))"
echo "Token      $hidden $token_at"
echo "Clients    $clients"
case :$PATH: in *":$dir/bin:"*) ;; *) echo "PATH       add $dir/bin to your PATH to type \`parley\`" ;; esac
echo
echo "To undo it: $0 --uninstall --dir $dir, or: $parley stop; $parley init --uninstall --user --yes; npm uninstall --global --prefix $dir parley-hub"
echo "Mail stays in $store; \`parley clear-and-reset-everything\` before that deletes it."
