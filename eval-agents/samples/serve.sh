#!/usr/bin/env bash
# A setup script for nextest: starts one server for all tests of a run, and ends it with the run, however that ends.
#
#   serve.sh VARIABLE COMMAND..
#
# A free port takes the place of {port} in COMMAND. The tests find the address of the server in VARIABLE. What the server
# writes goes to target/serve.log. On Windows it needs a bash that has process groups, such as that of WSL.
set -euo pipefail

variable="$1"
shift
# The script ends before the tests begin, and so nextest, which started it, tells how long the run lasts.
run="$PPID"
log=target/serve.log
mkdir -p target

listens() { (: <"/dev/tcp/127.0.0.1/$1") 2>/dev/null; }

# A process that has ended and that nobody has asked for its status runs no longer.
runs() { [[ "$(ps -o stat= -p "$1" 2>/dev/null)" == [!Z]* ]]; }

# Starts the server on a free port, and waits until it listens there.
start() {
  # Below the ports that systems give to outgoing connections, which a look for listeners does not find.
  port=$((RANDOM % 12000 + 20000))
  while listens "$port"; do
    port=$((RANDOM % 12000 + 20000))
  done
  # With job control the server and its watcher are a process group, which is killed as a whole.
  set -m
  {
    "${@//\{port\}/$port}" &
    server=$!
    while runs "$run" && runs "$server"; do
      sleep 0.2
    done
    trap '' TERM
    kill -TERM 0
    sleep 1
    kill -KILL 0
  } >"$log" 2>&1 </dev/null &
  watcher=$!
  disown "$watcher"
  until listens "$port"; do
    if ! runs "$watcher" || ! runs "$run"; then
      return 1
    fi
    sleep 0.1
  done
}

# Once more on another port, as another program may have taken the first one in between.
if ! start "$@" && ! start "$@"; then
  echo "the server ended before it listened on port $port; it wrote:" >&2
  cat "$log" >&2
  exit 1
fi
echo "$variable=http://127.0.0.1:$port" >>"$NEXTEST_ENV"
