"""Two network namespaces with a link between them that is slow and loses packets.

Run as root within a fresh network namespace, `unshare --net python3 link.py`: that one is over there, 10.91.0.2. A
second one, 10.91.0.1, is made for the program. Prints `netem` or `relay` and the two process numbers by which the
namespaces are found, then reads lines `DELAY_MS LOSS_PERCENT`, each of which holds for every packet in both
directions, and answers with `set`. All of it is gone when standard input closes.

Where the kernel has netem the link is its own, set by `tc`. Where it has not, packets go through two TUN devices and
this program: the connections on both sides are the kernel's, as their resent packets are.
"""

import fcntl
import heapq
import os
import random
import select
import struct
import subprocess
import sys
import time

HERE, THERE = "10.91.0.1", "10.91.0.2"
TUNSETIFF, IFF_TUN, IFF_NO_PI = 0x400454CA, 1, 0x1000


def ip(*words: str, namespace: int | None = None) -> None:
    enter = ["nsenter", f"--net=/proc/{namespace}/ns/net", "--"] if namespace else []
    subprocess.run([*enter, *words], check=True, capture_output=True)


def tun(name: str) -> int:
    file = os.open("/dev/net/tun", os.O_RDWR | os.O_NONBLOCK)
    fcntl.ioctl(file, TUNSETIFF, struct.pack("16sH22x", name.encode(), IFF_TUN | IFF_NO_PI))
    return file


def has_netem() -> bool:
    words = ["tc", "qdisc", "add", "dev", "lo", "root", "netem", "delay", "1ms"]
    if subprocess.run(words, capture_output=True).returncode != 0:
        return False
    ip("tc", "qdisc", "del", "dev", "lo", "root")
    return True


def addresses(other: int) -> None:
    for name, own, peer, namespace in [("pb0", THERE, HERE, None), ("pb1", HERE, THERE, other)]:
        ip("ip", "address", "add", own, "peer", peer, "dev", name, namespace=namespace)
        for device in ("lo", name):
            ip("ip", "link", "set", device, "up", namespace=namespace)


def by_netem(other: int) -> None:
    for line in sys.stdin:
        delay, loss = line.split()
        for name, namespace in [("pb0", None), ("pb1", other)]:
            ip("tc", "qdisc", "replace", "dev", name, "root", "netem", "delay", f"{delay}ms", "loss", f"{loss}%",
               namespace=namespace)  # fmt: skip
        print("set", flush=True)


def by_relay(ends: list[int]) -> None:
    delay, loss = 0.0, 0.0
    lost = random.Random(1)
    due: list[tuple[float, int, int, bytes]] = []
    counted, asked = 0, b""
    while True:
        wait = max(0.0, due[0][0] - time.monotonic()) if due else None
        ready, _, _ = select.select([0, *ends], [], [], wait)
        for file in ready:
            if file == 0:
                read = os.read(0, 4096)
                if not read:
                    return
                *lines, asked = (asked + read).split(b"\n")
                for line in lines:
                    delay, loss = (float(word) for word in line.split())
                    print("set", flush=True)
                continue
            try:
                packet = os.read(file, 1 << 16)
            except BlockingIOError:
                continue
            if lost.random() * 100 >= loss:
                counted += 1
                heapq.heappush(due, (time.monotonic() + delay / 1000, counted, ends[file == ends[0]], packet))
        while due and due[0][0] <= time.monotonic():
            _, _, end, packet = heapq.heappop(due)
            try:
                os.write(end, packet)
            except OSError:
                pass  # A device that is full drops packets too.


def main() -> None:
    # Ends with this process, when its standard input closes.
    second = subprocess.Popen(["unshare", "--net", "cat"], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL)
    own = os.readlink("/proc/self/ns/net")
    while os.readlink(f"/proc/{second.pid}/ns/net") == own:
        time.sleep(0.005)
    netem = has_netem()
    ends = []
    if netem:
        ip("ip", "link", "add", "pb0", "type", "veth", "peer", "name", "pb1")
    else:
        ends = [tun("pb0"), tun("pb1")]
    ip("ip", "link", "set", "pb1", "netns", str(second.pid))
    addresses(second.pid)
    print("netem" if netem else "relay", second.pid, os.getpid(), flush=True)
    if netem:
        by_netem(second.pid)
    else:
        by_relay(ends)


main()
