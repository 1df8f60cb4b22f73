"""Takes a context from giver.py, and writes to the memory that is registered there."""
import json
import os
import socket
import sys
import time

from pyverbs.device import Context
from pyverbs.pd import PD
import loop

conn = socket.socket(socket.AF_UNIX)
while True:
    try:
        conn.connect(sys.argv[1])
        break
    except (FileNotFoundError, ConnectionRefusedError):  # the giver does not listen yet
        time.sleep(0.02)
told, fds, _, _ = socket.recv_fds(conn, 1000, 1)
told = json.loads(told)

ctx = Context(cmd_fd=fds[0])
assert ctx.query_port(1).state == 4
pd = PD(ctx, handle=told['pd'])
pair = loop.Loop(ctx, pd)
pair.write(b'in the own memory')
pair.src.write(b'taken', 5)
pair.send(5, told['addr'], told['rkey'])
conn.send(b'written')
assert conn.recv(100) == b'closed'
pair.write(b'by the last')
pair.close()
conn.send(b'done')
print('done')
os._exit(0)
