"""Hands its context to who connects to a Unix socket, and tells what he shall find."""
import json
import os
import socket
import sys

from pyverbs.mr import MR
from pyverbs.pd import PD
import loop

ctx = loop.open_device()
pd = PD(ctx)
mr = MR(pd, 4096, loop.ACCESS)
mr.write(b'given', 5)

server = socket.socket(socket.AF_UNIX)
server.bind(sys.argv[1])
server.listen()
print('listening', flush=True)
conn, _ = server.accept()
socket.send_fds(conn, [json.dumps({'pd': pd.handle, 'mr': mr.handle, 'rkey': mr.rkey, 'addr': mr.buf}).encode()], [ctx.cmd_fd])
assert conn.recv(100) == b'written'
assert mr.read(5, 0) == b'taken', mr.read(5, 0)
ctx.query_port(1)
os.close(ctx.cmd_fd)  # the other has it still
conn.send(b'closed')
assert conn.recv(100) == b'done'
print('done')
os._exit(0)
