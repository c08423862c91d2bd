"""Programs of torch.export as graphs: a stand-in of them here, and torch's own where it is installed."""

import importlib.util
import json
import unittest

import lxplan
import lxplan.torch
import torch_stub as stub


def block():
    """A decoder's block: two sequences of 8 tokens, 4 heads of 16."""
    p = stub.Program()
    tokens = p.argument([2, 8], dtype="int64")
    table, scale, shift = p.weight(32, 64), p.weight(64), p.weight(64)
    qkv, bias, out, up, down = p.weight(192, 64), p.weight(192), p.weight(64, 64), p.weight(64, 256), p.weight(64, 256)
    x = p.op("embedding", [2, 8, 64], table, tokens)
    h = p.item(p.op("native_layer_norm", [[2, 8, 64], [2, 8, 1], [2, 8, 1]], x, [64], scale, shift, 1e-5), 0)
    h = p.op("linear", [2, 8, 192], h, qkv, bias)
    parts = p.op("split.Tensor", [[2, 8, 64]] * 3, h, 64, -1)
    heads = [p.op("transpose.int", [2, 4, 8, 16], p.op("view", [2, 8, 4, 16], p.item(parts, i), [2, 8, 4, 16]), 1, 2) for i in range(3)]
    keys = p.op("permute", [2, 4, 16, 8], heads[1], [0, 1, 3, 2])
    scores = p.op("mul.Tensor", [2, 4, 8, 8], p.op("matmul", [2, 4, 8, 8], heads[0], keys), 0.25)
    place = p.op("arange", [8], 8, dtype="int64")
    mask = p.op("ge.Tensor", [8, 8], p.op("unsqueeze", [8, 1], place, 1, dtype="int64"), place, dtype="bool")
    low = p.op("scalar_tensor", [], float("-inf"))
    scores = p.op("where.self", [2, 4, 8, 8], mask, scores, low)
    scores = p.op("_softmax", [2, 4, 8, 8], scores, -1, False)
    y = p.op("matmul", [2, 4, 8, 16], scores, heads[2])
    y = p.op("clone", [2, 8, 4, 16], p.op("transpose.int", [2, 8, 4, 16], y, 1, 2))
    y = p.op("mm", [16, 64], p.op("view", [16, 64], y, [16, 64]), p.op("t", [64, 64], out))
    x = p.op("add.Tensor", [2, 8, 64], x, p.op("view", [2, 8, 64], y, [2, 8, 64]))
    h = p.op("gelu", [2, 8, 256], p.op("matmul", [2, 8, 256], x, up), approximate="tanh")
    h = p.op("linear", [2, 8, 64], h, down)
    x = p.op("add.Tensor", [2, 8, 64], x, h, alpha=2)
    last = p.op("select.int", [2, 64], x, 1, -1)
    row = p.op("cat", [2, 128], [last, p.op("slice.Tensor", [2, 64], p.op("view", [2, 512], x, [2, 512]), 1, 64, 128)], 1)
    best = p.op("argmax", [2], row, 1, dtype="int64")
    mean = p.op("mean.dim", [2, 1], p.op("to.dtype", [2, 128], row, "torch.bfloat16", dtype="bfloat16"), [1], True, dtype="bfloat16")
    return p.output(best, p.op("expand", [2, 3], mean, [2, 3], dtype="bfloat16"))


def kinds(graph):
    return [op["kind"] for op in json.loads(graph.write())["ops"]]


class Programs(unittest.TestCase):
    def test_block(self):
        graph = lxplan.torch.graph(block())
        self.assertNotIn("generic", kinds(graph))
        tensors = json.loads(graph.write())["tensors"]
        self.assertEqual(sum(t["role"] == "weight" for t in tensors), 8)
        self.assertIn("model.n1", [t["name"] for t in tensors])
        plan = graph.plan()
        plan.check()
        self.assertEqual(plan.run().status, "ok")

    def test_attention(self):
        p = stub.Program()
        q, k, v = (p.argument([1, 2, 8, 64]) for _ in range(3))
        y = p.op("scaled_dot_product_attention", [1, 2, 8, 64], q, k, v, None, 0.0, True, scale=0.5)
        graph = lxplan.torch.graph(p.output(y))
        self.assertEqual(kinds(graph).count("matmul"), 2)
        self.assertEqual(graph.plan().run().status, "ok")

    def test_unknown(self):
        p = stub.Program()
        x = p.argument([8, 64])
        self.assertEqual(kinds(lxplan.torch.graph(p.output(p.op("frobnicate", [8, 64], x, 3)))), ["generic"])

    def test_refused(self):
        p = stub.Program()
        x = p.argument(["s0", 64])
        with self.assertRaisesRegex(ValueError, "n0: shape .* has symbols"):
            lxplan.torch.graph(p.output(x))
        p = stub.Program()
        with self.assertRaisesRegex(ValueError, "complex64"):
            p.output(p.op("neg", [8], p.argument([8], dtype="complex64")))
            lxplan.torch.graph(p)

    @unittest.skipUnless(importlib.util.find_spec("torch"), "torch is not installed")
    def test_torch(self):
        import torch

        model = torch.nn.Sequential(torch.nn.Linear(64, 128), torch.nn.GELU(), torch.nn.LayerNorm(128), torch.nn.Linear(128, 64))
        for program in (torch.export.export(model, (torch.zeros(8, 64),)),):
            for form in (program, program.run_decompositions()):
                self.assertEqual(lxplan.torch.graph(form).plan().run().status, "ok")


if __name__ == "__main__":
    unittest.main()
