#!/bin/sh
# The quickstart: installs two real MCP servers, builds the gateway, starts it on
# deploy/examples/quickstart, makes one call and serves until Ctrl-C. Started by `make quickstart`.
# PORT (8080) and ADMIN_PORT (9090) choose where, on loopback.
set -eu

root=$(CDPATH='' cd -- "$(dirname -- "$0")/.." && pwd)
cd "$root"

port=${PORT:-8080}
admin_port=${ADMIN_PORT:-9090}
target=${CARGO_TARGET_DIR:-target}
url=http://127.0.0.1:$port/mcp/router
ready=http://127.0.0.1:$admin_port/readyz
log=$target/quickstart.log
ready_within=60
gateway=

say() { printf '\nquickstart: %s\n' "$*"; }
die() {
    printf '\nquickstart: %s\n' "$*" >&2
    exit 1
}

# curl says 7 when nothing listens; any other answer comes from somebody.
refuse_used() {
    code=0
    curl --silent --output /dev/null --max-time 2 "http://127.0.0.1:$1/" || code=$?
    [ "$code" -eq 7 ] || die "port $1 is in use; choose another: make quickstart $2=$(($1 + 1))"
}

alive() { kill -0 "$gateway" 2>/dev/null; }

# The gateway ends its servers itself; one that does not leave in 10 s is killed.
# shellcheck disable=SC2329 # the traps call it
stop() {
    trap - EXIT HUP INT TERM
    [ -n "$gateway" ] || return 0
    kill "$gateway" 2>/dev/null || true
    patience=100
    while alive && [ "$patience" -gt 0 ]; do
        sleep 0.1
        patience=$((patience - 1))
    done
    kill -KILL "$gateway" 2>/dev/null || true
    wait "$gateway" 2>/dev/null || true
}

give_up() {
    tail -n 20 "$log" >&2
    die "$1; above is the end of its log, $log"
}

start() {
    PATH=$root/.tools/bin:$PATH "$target/release/portreeve-gateway" serve \
        --manifests deploy/examples/quickstart \
        --listen "127.0.0.1:$port" --admin "127.0.0.1:$admin_port" >"$log" 2>&1 &
    gateway=$!
}

await_ready() {
    deadline=$(($(date +%s) + ready_within))
    until curl --silent --fail --output /dev/null --max-time 2 "$ready"; do
        alive || give_up "the gateway ended"
        [ "$(date +%s)" -lt "$deadline" ] || give_up "not ready after $ready_within s"
        sleep 0.2
    done
}

call='{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"time__get_current_time","arguments":{"timezone":"Europe/Berlin"}}}'

# No session and no handshake: any MCP client, or curl.
make_a_call() {
    cat <<EOF

\$ curl $url \\
    -H 'Content-Type: application/json' \\
    -H 'Accept: application/json, text/event-stream' \\
    -d '$call'
EOF
    answer=$(curl --silent --show-error --max-time 30 "$url" \
        -H 'Content-Type: application/json' \
        -H 'Accept: application/json, text/event-stream' \
        -d "$call") || give_up "the call failed"
    printf '%s\n' "$answer"
    case $answer in
    *'"isError":true'* | *'"error":'*) give_up "the call was answered with an error" ;;
    *'Europe/Berlin'*) ;;
    *) give_up "the call was not answered with the time" ;;
    esac
}

command -v curl >/dev/null || die "curl is needed"
command -v cargo >/dev/null || die "cargo is needed: install Rust with rustup"
refuse_used "$port" PORT
refuse_used "$admin_port" ADMIN_PORT

say "installing two MCP servers into .tools/"
tests/real/install quickstart
say "building the gateway (the first time takes some minutes)"
cargo build --release -p gateway

trap stop EXIT
trap 'say "stopping"; stop; exit 0' HUP INT TERM
say "starting the gateway on deploy/examples/quickstart"
start
await_ready
say "ready. Portreeve serves MCP on $url"
make_a_call
say "serving both servers on $url until Ctrl-C; its log is $log"
wait "$gateway" || true
give_up "the gateway ended"
