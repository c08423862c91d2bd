#!/bin/sh
# python.sh LIBRARY TEST.py: runs a test of the Python module over that library; 77 (skipped) without a python3 from 3.9 on.
library=$1
test=$2
python3 -c 'import sys; sys.exit(sys.version_info < (3, 9))' 2>/dev/null || {
    echo "skipped: no python3 from 3.9 on here (apt-get install python3 python3-venv)"
    exit 77
}
root=$(cd "$(dirname "$0")/../.." && pwd) || exit 2
unset LXPLAN_OPTIONS
LXPLAN_LIBRARY=$library PYTHONPATH=$root/lib/python:$root/tests/python PYTHONDONTWRITEBYTECODE=1 exec python3 -W error "$test"
