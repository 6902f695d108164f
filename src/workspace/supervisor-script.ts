/** Name of a supervisor in the process table; the directory of its call is the argument after it. */
export const SUPERVISOR_NAME = 'surehand-supervisor';

/**
 * The supervisor: a POSIX shell of its own session, started once per command, that outlives whoever started it.
 *
 * Arguments: directory of the call, seconds until the deadline, output cap in 512-byte blocks, `strict` or `off`, then
 * the command's argv. In `strict` the argv is bwrap's, which must stay this shell's direct child: its
 * `--die-with-parent` follows the parent process. What it leaves in the directory:
 *
 * - `supervisor`: `<pid> <start time>`, created exclusively before anything else; whoever else creates it first has
 *   made sure that the command never starts.
 * - `child`: pid of the command's outermost process (in `off` also its process group).
 * - `status`: what bwrap reports (`child-pid` before the command is released, `exit-code` after it).
 * - `output`: stdout and stderr in their order, through a pipe, because a command may reopen `/dev/stderr` and would
 *   truncate a file.
 * - `reason`: why it ended, created exclusively, so the first reason wins. One that cannot be written (no space, the
 *   directory was removed) still ends the command.
 * - `end`: the exit status as the shell saw it, written when everything above is complete; empty for a moment.
 *
 * bwrap's end kills the namespace, which takes a moment: `end` waits until its init is dead, and so all within it.
 *
 * The command gets the umask of whoever started it; our own files are for nobody else.
 *
 * `kill 0` at the end takes the sleeping timer with it: the shell leads its process group.
 */
export const SUPERVISOR_SCRIPT = `
dir=$1 seconds=$2 blocks=$3 mode=$4
shift 4
mask=$(umask)
umask 077
set -C
start_of() { start=\${20}; }
IFS= read -r stat <"/proc/$$/stat"
start_of \${stat##*) }
{ echo "$$ $start" >"$dir/supervisor"; } 2>/dev/null || exit 0
claim() { { echo "$1" >"$dir/reason"; } 2>/dev/null || [ ! -e "$dir/reason" ]; }
init_of() {
  init=
  while IFS= read -r line; do
    case $line in *'"child-pid": '*) init=\${line#*'"child-pid": '} init=\${init%%[!0-9]*} ;; esac
  done <"$dir/status"
}
end_tree() {
  if [ "$mode" = strict ]; then
    tries=0
    init_of
    while [ -z "$init" ] && [ "$tries" -lt 50 ]; do sleep 0.02; tries=$((tries + 1)); init_of; done
    [ -z "$init" ] || kill -KILL "$init"
    kill -KILL "$child"
  else
    kill -TERM "-$child"
    kill -CONT "-$child"
    sleep 1
    kill -KILL "-$child"
  fi
}
await_init() {
  tries=0
  init_of
  while [ -n "$init" ] && [ "$tries" -lt 200 ] && IFS= read -r stat <"/proc/$init/stat"; do
    case \${stat##*) } in Z* | X*) break ;; esac
    sleep 0.005
    tries=$((tries + 1))
  done
} 2>/dev/null
finish() {
  echo "$1" >"$dir/end"
  rm -f "$dir/pipe"
  trap '' TERM
  kill -TERM 0
}
if [ -e "$dir/reason" ]; then finish none; fi
: >"$dir/output"
if ! mkfifo "$dir/pipe"; then claim exited; finish none; fi
if [ "$mode" = strict ]; then
  { umask "$mask"; exec "$@"; } </dev/null >"$dir/pipe" 2>&1 3>"$dir/status" &
else
  { umask "$mask"; exec setsid "$@"; } </dev/null >"$dir/pipe" 2>&1 &
fi
child=$!
echo "$child" >"$dir/child"
(
  ulimit -f "$blocks"
  cat <"$dir/pipe" >>"$dir/output"
  if [ "$?" -eq 153 ] && claim output_limit; then end_tree; fi
) &
reader=$!
(sleep "$seconds" && claim timeout && end_tree) &
wait "$child"
code=$?
claim exited
if [ "$mode" != strict ]; then
  kill -KILL "-$child"
  (sleep 0.25; kill -TERM "$reader") &
fi
wait "$reader"
if [ "$mode" = strict ]; then await_init; fi
finish "$code"
`;
