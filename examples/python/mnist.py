#!/usr/bin/env python3
"""Trains a 784-256-10 network on MNIST and prints its accuracy on the test set: examples/mnist_mlp.c in Python.

    ./run data && python3 examples/python/mnist.py --epochs 2"""
import argparse
import sys

import millwright as mw


def options():
    parser = argparse.ArgumentParser(description="Trains on MNIST.")
    parser.add_argument("--data", default="data/mnist", help="a folder of IDX files")
    parser.add_argument("--epochs", type=int, default=5)
    parser.add_argument("--seed", type=int, default=0, help="of the weights and the order of the examples")
    parser.add_argument("--checkpoint", help="saved each epoch and on Ctrl-C; resumed if it is there")
    return parser.parse_args()


def show(progress):
    if progress.epoch_end:
        accuracy = mw.metrics_of(progress.validation)["accuracy"]
        print(f"epoch {progress.epoch}: loss {progress.loss:.4f}, test accuracy {100 * accuracy:.2f} %")


def main():
    o = options()
    train, test = mw.Dataset.idx(o.data, "train"), mw.Dataset.idx(o.data, "t10k")

    graph = mw.Graph()
    x = graph.input("x", (128, 784))
    y = graph.input("y", (128,), mw.I32)
    hidden = mw.nn.dense(x, 256, "fc1").gelu(mode="TANH_APPROXIMATION")
    logits = mw.nn.dense(hidden, 10, "fc2")

    loss = mw.nn.cross_entropy(logits, y)
    trainer = mw.Trainer(loss, mw.optim.adam(3e-3), metric=mw.nn.accuracy(logits, y), seed=o.seed)
    more = {"checkpoint": o.checkpoint} if o.checkpoint else {}
    trainer.fit(train, o.epochs, validation=test, schedule=mw.schedule.cosine(0.0), progress=show, seed=o.seed, **more)

    found = trainer.evaluate(test)
    print(f"trained on {trainer.where}")
    print(f"test loss {found.loss:.4f}\ntest accuracy {100 * found.metrics['accuracy']:.2f} %")


if __name__ == "__main__":
    try:
        main()
    except mw.Error as error:
        sys.exit(error.message)
