# SPDX-License-Identifier: Apache-2.0
"""Commands and printers of gdb for programs that use Troupe; `help troupe` lists them.

    (gdb) source <prefix>/share/troupe/gdb/troupe-gdb.py

gdb does that by itself where it looks for the scripts of libtroupe.so. docs/guide/debugging.md
shows how to use them.
"""
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
is_quiet = sys.dont_write_bytecode
sys.dont_write_bytecode = True  # what is installed stays as it is
try:
    from troupe_gdb import commands, printers
finally:
    del sys.path[0]
    sys.dont_write_bytecode = is_quiet

commands.register()
printers.register()
