#!/bin/sh
# Runs a command of which the answer "no" (exit code 1) is expected by a WILL_FAIL test. Only that answer is
# passed on as a failure; anything else that went wrong becomes 0, which WILL_FAIL reports.
"$@"
code=$?
[ "$code" -eq 1 ] && exit 1
[ "$code" -eq 0 ] || echo "answer_no.sh: exit code $code where 1 (the answer is no) was expected"
exit 0
