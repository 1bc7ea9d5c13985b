"""Let SimGrid send flows over given links and say how long each step takes. Runs in the interpreter that has SimGrid; stands alone.

    python simgrid_flows.py FILE

FILE is JSON: ``links`` (bytes per second of each), ``hosts`` (how many), ``steps``: lists of flows [from, to, whole bytes, [link, ...]]. The flows
of a step start together and the next step when the last has ended; flows share links max-min fair. A pair of hosts must take the
same links in every step. Prints one line: the word PROBE and a JSON object with ``seconds``, one number a step.
"""

import json
import sys

from simgrid import Actor, Comm, Engine, Host, LinkInRoute, NetZone

# Bandwidth alone: SimGrid's default model (LV08) takes 3 % off, stretches latencies and caps a flow by TCP's window.
PLAIN = (
    "network/model:CM02", "network/TCP-gamma:0", "network/crosstraffic:0", "network/bandwidth-factor:1",
    "network/latency-factor:1", "network/weight-S:0",
)  # fmt: skip


def platform(case):
    zone = NetZone.create_full_zone("fabric")
    hosts = [zone.create_host(f"h{i}", 1e9).seal() for i in range(case["hosts"])]
    links = [zone.create_link(f"l{i}", rate).seal() for i, rate in enumerate(case["links"])]
    known = set()
    for near, far, _, way in (flow for step in case["steps"] for flow in step):
        if (near, far) not in known:
            known.add((near, far))
            zone.add_route(hosts[near].netpoint, hosts[far].netpoint, None, None, [LinkInRoute(links[i]) for i in way], False)
    zone.seal()


def play(steps, seconds):
    """One actor for all ranks: much faster than one each, with the same answer."""
    for step in steps:
        began = Engine.clock
        Comm.wait_all([Comm.sendto_async(Host.by_name(f"h{near}"), Host.by_name(f"h{far}"), size) for near, far, size, _ in step])
        seconds.append(Engine.clock - began)


def main(file):
    with open(file, encoding="utf-8") as text:
        case = json.load(text)
    engine = Engine([sys.argv[0], "--log=root.thres:warning", *(f"--cfg={word}" for word in PLAIN)])
    platform(case)
    seconds = []
    Actor.create("ranks", Host.by_name("h0"), play, case["steps"], seconds)
    engine.run()
    print("PROBE", json.dumps({"seconds": seconds}), flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
