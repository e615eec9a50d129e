#!/bin/sh
# Installs Parley for a server: the package, a user of its own, the unit, and its settings. deploy/install.sh --system starts it.
set -eu

usage() {
  cat <<'TEXT'
Usage: install.sh --system [--dir FOLDER] [--public-url URL] [--no-start] [--dry-run] [--uninstall]

  --dir         where to install (default: /usr/local): FOLDER/bin/parley
  --public-url  the address that people and agents use, such as https://parley.example
  --no-start    install only
  --dry-run     say what would be done, and do nothing
  --uninstall   take the service and the package out; settings, mail and the user stay

It may run again: what is there stays as it is, and the package and the unit are brought up to date.
PARLEY_PACKAGE names what npm installs (default: parley-hub). DESTDIR puts the files below a folder, for images: no user is made, and nothing is started.
TEXT
}

fail() {
  echo "install.sh: $1" >&2
  exit "${2:-1}"
}

dry= start=yes uninstall= dir=/usr/local url=
value() { [ $# -ge 2 ] && [ -n "$2" ] || fail "$1 needs a value. install.sh --system --help shows how to use it." 2; }
while [ $# -gt 0 ]; do
  case $1 in
    --system) ;;
    --dry-run) dry=yes ;;
    --no-start) start= ;;
    --uninstall) uninstall=yes ;;
    --dir) value "$@"; dir=$2; shift ;;
    --public-url) value "$@"; url=$2; shift ;;
    --help | -h) usage; exit 0 ;;
    *) fail "unknown option $1. install.sh --system --help lists the options." 2 ;;
  esac
  shift
done
case $dir in /*) ;; *) fail "--dir takes an absolute path." 2 ;; esac
case $url in
  *[!A-Za-z0-9:/._~%-]*) fail "--public-url takes a URL." 2 ;;
  '' | http://?* | https://?*) ;;
  *) fail "--public-url takes a URL that begins with https://." 2 ;;
esac

here=$(cd "$(dirname "$0")/.." && pwd)
package=${PARLEY_PACKAGE:-parley-hub}
root=${DESTDIR:-}
settings=$root/etc/parley.env
unit=$root/etc/systemd/system/parley.service
rotation=$root/etc/logrotate.d/parley
command=$root$dir/bin/parley-service
for file in systemd/parley.service env/production.env logrotate/parley; do
  [ -f "$here/$file" ] || fail "$here/$file is missing. Run it from the deploy folder of a checkout."
done

if [ -n "$uninstall" ]; then
  echo "This will stop parley.service and take out $unit, $rotation, $command and $root$dir/bin/parley."
else
  echo "This will:"
  echo "  1. install $package into $root$dir (npm install --global --prefix)"
  echo "  2. make the user and group parley, and $root/var/lib/parley for its data"
  echo "  3. write $settings (mode 600) with a new operator's token and secret key, unless it is there"
  echo "  4. write $unit, $rotation and $command, which runs commands on the data of the service"
  [ -z "$start" ] || echo "  5. start parley.service, now and with the machine"
fi
if [ -n "$dry" ]; then
  echo "Nothing was done: this is a dry run."
  exit 0
fi
command -v npm >/dev/null || fail "npm is missing. Install Node 20 or newer, which brings it, then run this again."
[ -n "$root" ] || [ "$(id -u)" = 0 ] || fail "a service is installed by root. Run it with sudo; without --system it installs for you alone."

systemd() { [ -n "$root" ] || [ ! -d /run/systemd/system ] || systemctl "$@"; }

if [ -n "$uninstall" ]; then
  [ ! -f "$unit" ] || systemd disable --now parley.service
  rm -f "$unit" "$rotation" "$command"
  systemd daemon-reload
  npm uninstall --global --prefix "$root$dir" --loglevel error parley-hub
  echo "Taken out. Settings stay in $settings, mail in $root/var/lib/parley. To delete them, and the user:"
  echo "  rm -r $settings $root/var/lib/parley; userdel parley"
  exit 0
fi

# ProtectHome hides these from the service.
node=$(node -p 'process.execPath' 2>/dev/null) || fail "node is missing. Install Node 20 or newer, then run this again."
case $node in /home/* | /root/*) [ -n "$root" ] || fail "$node is in a home, which the service may not read. Install Node for all users, for example from your distribution or nodejs.org." ;; esac

npm install --global --prefix "$root$dir" --no-audit --no-fund --loglevel error "$package"
# On an older Node the first start fetches Node 24: now, into the package, and not as the service, which may not write there.
version=$("$root$dir/bin/parley" --version)

if [ -z "$root" ] && ! id parley >/dev/null 2>&1; then
  useradd --system --user-group --home-dir /var/lib/parley --no-create-home --shell /usr/sbin/nologin parley
fi
mkdir -p "$root/var/lib/parley" "${unit%/*}"
chmod 700 "$root/var/lib/parley"
[ -n "$root" ] || chown parley:parley /var/lib/parley

secret() { node -p 'crypto.randomBytes(32).toString("hex")'; }
if [ ! -s "$settings" ]; then
  public=${url:+HTTP_PUBLIC_URL=$url}
  (umask 077 && sed -e "s|^HTTP_BEARER_TOKEN=.*|HTTP_BEARER_TOKEN=$(secret)|" -e "s|^SECRET_KEY=.*|SECRET_KEY=$(secret)|" \
    -e "s|^HTTP_PUBLIC_URL=.*|${public:-#HTTP_PUBLIC_URL=https://parley.example}|" "$here/env/production.env" >"$settings.new" && mv "$settings.new" "$settings")
  made='new; the operator’s token is in it'
else
  made='as it was'
fi
path=${node%/*}:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
sed -e "s|^ExecStart=.*|ExecStart=$dir/bin/parley serve|" -e "s|^Environment=HOME|Environment=PATH=$path HOME|" "$here/systemd/parley.service" >"$unit.new" && mv "$unit.new" "$unit"
# Commands of root would look into a store of root's own.
cat >"$command.new" <<TEXT
#!/bin/sh
# parley with the settings, the user and the data of parley.service: sudo parley-service status
exec systemd-run --quiet --collect --wait --pipe --same-dir --uid=parley --gid=parley \\
  --property=EnvironmentFile=/etc/parley.env --property=UMask=0077 \\
  --setenv=PATH=$path --setenv=HOME=/var/lib/parley --setenv=STORAGE_ROOT=/var/lib/parley $dir/bin/parley "\$@"
TEXT
chmod 755 "$command.new" && mv "$command.new" "$command"
if [ -d "${rotation%/*}" ]; then cp "$here/logrotate/parley" "$rotation"; fi

if [ -n "$start" ]; then
  systemd daemon-reload
  systemd enable parley.service
  systemd restart parley.service
fi
echo
echo "Installed  $root$dir/bin/parley ($version)"
echo "Settings   $settings ($made)"
echo "Unit       $unit"
echo "Commands   sudo $command status"
[ -n "$url" ] || [ "$made" = 'as it was' ] || echo "Next       set HTTP_PUBLIC_URL in $settings, put a proxy with TLS in front (deploy/nginx, deploy/caddy), then systemctl restart parley"
