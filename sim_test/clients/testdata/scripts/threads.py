"""Threads, each with queue pairs of its own, on one context."""
import threading

from pyverbs.pd import PD
import loop

ctx = loop.open_device()
failed = []


def work(number):
    try:
        pd = PD(ctx)
        for turn in range(3):
            pair = loop.Loop(ctx, pd)
            for i in range(20):
                pair.write(f'thread {number} turn {turn} write {i} '.encode() * 20)
            pair.close()
        pd.close()
    except BaseException as err:
        failed.append((number, err))


threads = [threading.Thread(target=work, args=(n,)) for n in range(8)]
for t in threads:
    t.start()
for t in threads:
    t.join()
assert not failed, failed

# A context that a thread has opened goes on when the thread has ended.
opened = []
t = threading.Thread(target=lambda: opened.append(loop.open_device()))
t.start()
t.join()
pair = loop.Loop(opened[0], PD(opened[0]))
pair.write(b'of a thread that is gone')
pair.close()
opened[0].close()
ctx.close()
print('done')
