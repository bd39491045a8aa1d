#!/usr/bin/env python3
"""Tunes a model that exists, the last two layers of the network of mnist_cnn, on another data set: examples/finetune.c.
    build/release/examples/mnist_cnn --model build/digits.onnx && python3 examples/python/finetune.py build/digits.onnx"""
import sys

import millwright as mw

path, data, batch = sys.argv[1], (sys.argv[2:] or ["/usr/share/datasets/fashion-mnist"])[0], 64
source = mw.Graph.read_onnx(path)
graph = source.trainable(["fc*"], shapes={"x": (batch, 1, 28, 28)})
logits, labels = graph.outputs[0], graph.input("y", (batch,), mw.I32)
train, test = mw.Dataset.idx(data, "train"), mw.Dataset.idx(data, "t10k")

trainer = mw.Trainer(mw.nn.cross_entropy(logits, labels), mw.optim.adam(1e-3), metric=mw.nn.accuracy(logits, labels))
print(f"before: {100 * trainer.evaluate(test).metrics['accuracy']:.2f} %")
trainer.fit(train, epochs=1, data={"keep_order": True})
print(f"after:  {100 * trainer.evaluate(test).metrics['accuracy']:.2f} %")
trainer.export(path.replace(".onnx", "-tuned.onnx"), source=source, description={"text": "digits, tuned on clothes"})
