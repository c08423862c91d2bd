"""Exports from Python: what its own readers of JSON, CSV and pickles make of them."""

import csv
import io
import json
import pathlib
import pickle
import unittest

import lxplan

ROOT = pathlib.Path(__file__).resolve().parents[2]
FORMATS = ("handover", "perfetto", "model-explorer", "model-explorer-residency", "model-explorer-hbm",
           "model-explorer-time", "model-explorer-cores")


def plan_of(name, options="solver=greedy"):
    return lxplan.Graph.parse((ROOT / "patterns" / name).read_bytes()).plan(options)


class Exports(unittest.TestCase):
    def test_json(self):
        plan = plan_of("graphs/rms_norm.json")
        read = {name: json.loads(plan.write(name)) for name in FORMATS}
        self.assertEqual(len(read["handover"]["ops"]), len(plan.items("ops")))
        (data,) = read["model-explorer-hbm"].values()
        self.assertEqual(sum(one["value"] for one in data["results"].values()), plan.hbm_bytes)

    def test_pickle(self):
        snapshot = pickle.loads(plan_of("graphs/gq_attention.json").write("memory_viz"))
        self.assertEqual([s["device"] for s in snapshot["segments"]], [0, 1])
        for segment, events in zip(snapshot["segments"], snapshot["device_traces"]):
            (block,) = segment["blocks"]
            self.assertEqual((block["state"], block["size"]), ("inactive", segment["total_size"]))
            taken = {}
            for event in events[1:]:
                if event["action"] == "alloc":
                    self.assertNotIn(event["addr"], taken)
                    taken[event["addr"]] = event["size"]
                if event["action"] == "free_completed":
                    self.assertEqual(taken.pop(event["addr"]), event["size"])
            self.assertEqual(taken, {})

    def test_tables_and_page(self):
        plan = plan_of("graphs/gq_attention.json")
        rows = list(csv.DictReader(io.StringIO(plan.write("xla-csv").decode())))
        places = {item["name"]: item["address"] for item in plan.items("buffers") if item["address"] >= 0}
        self.assertEqual({row["buffer_name"]: int(row["offset"]) for row in rows}, places)
        page = plan.write("html", plan)
        self.assertTrue(page.startswith(b"<!DOCTYPE html>") and b"beside it: gq_attention" in page)

    def test_unknown(self):
        with self.assertRaises(lxplan.LxplanError) as caught:
            plan_of("graphs/rms_norm.json").write("perfeto")
        self.assertIn("perfetto", str(caught.exception))


if __name__ == "__main__":
    unittest.main()
