"""Training, prediction, files and data sets; what the examples in C compute, bit for bit."""
import ctypes
import os
import re
import signal
import subprocess
import sys

from frame import MODULE, Skip, check, dataset, examples, mw, network, numpy, raises, write_idx


def run(*command):
    result = subprocess.run([str(part) for part in command], capture_output=True, text=True, timeout=250, check=False)
    check(result.returncode == 0, f"{command}: {result.stdout}{result.stderr}")
    return result.stdout


def program_in_c(examples, name):
    path = examples / name
    if not path.exists():
        raise Skip(f"{path} is not built")
    return path


def test_mnist_has_the_bits_of_the_example_in_c(examples, folder):
    """mnist.py and mnist_mlp: checkpoints with weights, states of Adam and losses so far are equal byte for byte."""
    example = program_in_c(examples, "mnist_mlp")
    write_idx(folder, {"train": 1000, "t10k": 300})
    options = ["--data", folder, "--epochs", 2, "--seed", 3, "--checkpoint"]
    mine = run(sys.executable, MODULE / "mnist.py", *options, folder / "python.safetensors")
    theirs = run(example, *options, folder / "c.safetensors")
    check((folder / "python.safetensors").read_bytes() == (folder / "c.safetensors").read_bytes(), "checkpoints")
    check(re.findall("^test .*", mine, re.M) == re.findall("^test .*", theirs, re.M) != [], f"{mine} {theirs}")
    check(mine.count("epoch ") == 2 and "loss" in mine, mine)
    other = run(sys.executable, MODULE / "mnist.py", *options[:5], 4, "--checkpoint", folder / "other.safetensors")
    check((folder / "other.safetensors").read_bytes() != (folder / "c.safetensors").read_bytes(), f"seed 4: {other}")


def test_the_loop_written_out_has_the_bits_of_the_example_in_c(examples, folder):
    """custom_loop: the weights after two epochs, and what was printed of each."""
    example = program_in_c(examples, "custom_loop")
    write_idx(folder, {"train": 1000, "t10k": 300})
    theirs = run(example, "--data", folder, "--epochs", 2, "--seed", 3, "--checkpoint", folder / "c.safetensors")
    train, test = mw.Dataset.idx(folder, "train"), mw.Dataset.idx(folder, "t10k")
    graph = mw.Graph()
    x, y = graph.input("x", (64, 784)), graph.input("y", (64,), mw.I32)
    logits = mw.nn.dense(mw.nn.dense(x, 128, "fc1").relu(), 10, "fc2")
    loss = mw.nn.cross_entropy(logits, y)
    trainer = mw.Trainer(loss, mw.optim.sgd_momentum(0.1, 0.9, True), metric=mw.nn.accuracy(logits, y), seed=3)
    loader, lines = mw.Loader(train, 64, seed=3), []
    for epoch in (1, 2):
        total = sum(trainer.step(batch) for batch in loader)
        found = trainer.evaluate(test)
        accuracy = 100 * found.metrics["accuracy"]
        loss = total / len(loader)
        lines.append(f"epoch {epoch}: loss {loss:.4f}, test loss {found.loss:.4f}, test accuracy {accuracy:.2f} %")
        trainer.learning_rate *= 0.5
    trainer.save_weights(folder / "python.safetensors")
    check((folder / "python.safetensors").read_bytes() == (folder / "c.safetensors").read_bytes(), "weights")
    check(lines == theirs.splitlines()[:2], f"{lines} {theirs}")


def test_a_batch_and_its_values_are_one_step():
    rows, labels = (part[:8] for part in examples())
    _, served = network()
    _, fed = network()
    loader = mw.Loader(dataset(), 8, shuffle=False)
    values = {"x": rows, "y": labels}
    check(served.step(loader.next()) == fed.step(values) and served.steps == 1, "the loss")
    check(served.read("fc1.weight").tolist() == fed.read("fc1.weight").tolist(), "the weights")
    check(fed.step(**values) == served.step(values), "by keywords")
    raises(ValueError, lambda: fed.step(x=rows[:4], y=labels), "x", "[4, 4]", "[8, 4]")
    raises(ValueError, lambda: fed.step(x=rows, y=[labels]), "y")
    raises(mw.Error, lambda: fed.step(x=rows), "y")
    raises(mw.Error, lambda: fed.step(x=rows, y=[9] * 8), "y")
    error = raises(mw.Error, lambda: fed.step(x=[[float("nan")] * 4] * 8, y=labels))
    check(error.status == mw.Status.MW_ERROR_NUMERIC and fed.steps == 2, "a batch that is not finite")
    if numpy is not None:
        check(fed.step(x=numpy.array(rows), y=numpy.array(labels)) == served.step(values), "arrays of numpy")


def test_a_checkpoint_goes_on_bit_for_bit(folder):
    _, first = network()
    loader = mw.Loader(dataset(), 8, seed=7)
    for _ in range(5):
        first.step(loader.next())
    first.save(folder / "run.safetensors", loader.position)
    later = [first.step(loader.next()) for _ in range(3)]
    _, second = network(seed=9)
    again = mw.Loader(dataset(), 8, seed=7)
    again.position = second.load(folder / "run.safetensors")
    check(second.steps == 5 and again.position == (0, 5), f"{second.steps} {again.position}")
    check([second.step(again.next()) for _ in range(3)] == later, "the losses")
    raises(mw.Error, lambda: network()[1].load(folder / "none.safetensors"), "none.safetensors")


def test_weights_are_read_and_written(folder):
    _, trainer = network()
    check(trainer.parameters["fc1.weight"] == (16, 4) and "x" not in trainer.parameters, f"{trainer.parameters}")
    weight = [[float(i + j) for j in range(16)] for i in range(3)]
    trainer.write("fc2.weight", weight)
    check(trainer.read("fc2.weight").tolist() == weight, "what was written")
    raises(ValueError, lambda: trainer.write("fc2.weight", weight[0]), "fc2.weight", "[16]")
    raises(mw.Error, lambda: trainer.read("fc9.weight"), "fc9.weight")
    trainer.save_weights(folder / "w.safetensors")
    with mw.Tensors(folder / "w.safetensors") as tensors:
        check(tensors["fc2.weight"].tolist() == weight and "fc1.bias" in list(tensors), "the file")
    _, other = network(seed=5)
    other.load_weights(folder / "w.safetensors")
    check(other.read("fc1.weight").tolist() == trainer.read("fc1.weight").tolist(), "the other trainer")


def test_options_reach_the_trainer():
    graph = mw.Graph()
    x, t = graph.input("x", (4, 2)), graph.input("t", (4, 1))
    y = mw.nn.dense(mw.nn.dense(x, 3, "a"), 1, "b")
    loss = mw.nn.mse(y, t)
    trainer = mw.Trainer(loss, mw.optim.sgd(0.5, weight_decay=0.25), metrics={"twice": loss * 2.0}, clipping={"norm": 1e-3},
                         groups=[mw.group("a.*", frozen=True), mw.group("b.bias", weight_decay=0.0)], threads=1, seed=4)
    before = {name: trainer.read(name).tolist() for name in ("a.weight", "b.weight", "b.bias")}
    found = trainer.step(x=[[1.0, 2.0]] * 4, t=[[3.0]] * 4)
    check(trainer.read("a.weight").tolist() == before["a.weight"], "frozen")
    decayed = [0.875 * w for w in before["b.weight"][0]]
    check(max(abs(a - b) for a, b in zip(trainer.read("b.weight").tolist()[0], decayed)) < 1e-3, "decay and clipping")
    check(0 < abs(trainer.read("b.bias").tolist()[0] - before["b.bias"][0]) < 1e-3, "clipping alone")
    result = trainer.evaluate(mw.Dataset.arrays(x=[[1.0, 2.0]] * 4, t=[[3.0]] * 4))
    check(abs(result.metrics["twice"] - 2 * result.loss) < 1e-5 and result.examples == 4 and found > 0, f"{result}")
    trainer.learning_rate = 0.125
    check(trainer.learning_rate == 0.125 and "engine" in trainer.where, "the learning rate")
    raises(mw.Error, lambda: setattr(trainer, "learning_rate", -1.0))
    raises(TypeError, lambda: mw.Trainer(loss, mw.optim.sgd(0.1), clip=1.0), "clipping")
    raises(TypeError, lambda: mw.Trainer(loss, mw.optim.sgd(0.1), clipping={"nrom": 1.0}), "norm")


def test_makers_of_values_are_those_of_the_library():
    check(mw.optim.adamw(1e-3, 0.5).weight_decay == 0.5 and mw.optim.adam(1e-3, beta1=0.5).beta1 == 0.5, "optimizers")
    check({"sgd", "adam", "adamw", "rmsprop", "adagrad", "lion"} <= set(vars(mw.optim)), "all of them")
    raises(TypeError, lambda: mw.optim.sgd(0.1, beta1=0.5), "beta1", "learning_rate, momentum, nesterov, weight_decay")
    raises(ValueError, lambda: mw.optim.adam(0.1, beta2=1.0), "beta2 cannot be 1.0")
    raises(AttributeError, lambda: mw.optim.sgd(0.1).beta1, "no beta1")
    check(mw.optim.sgd_momentum(0.1, 0.5, nesterov=True).nesterov == 1.0, "a switch")
    raises(TypeError, lambda: mw.group("a.*", rate=2.0), "a group has no rate")
    raises(ValueError, lambda: mw.group("a.*", rate_factor=-1.0), "rate_factor cannot be -1.0")
    cosine = mw.schedule.cosine(0.0, warmup_steps=10)
    factor = mw.library.library.mw_schedule_factor
    check(factor(ctypes.byref(cosine), 10, 20) == 1.0, "warm-up")
    graph = mw.Graph()
    w = graph.parameter("w", (2, 2), mw.init.constant(0.5)) + graph.parameter("v", (2, 2), [[1, 2], [3, 4]])
    w.output("y")
    check(mw.Program(graph).run()["y"].tolist() == [[1.5, 2.5], [3.5, 4.5]], "initial values")
    raises(ValueError, lambda: graph.parameter("u", (2, 2), [1.0, 2.0]), "[2, 2]")


def test_fit_says_what_became_of_it(folder):
    _, trainer = network()
    seen = []

    def progress(p):
        if p.epoch_end:
            seen.append((p.epoch, mw.metrics_of(p.validation)))

    summary = trainer.fit(dataset(), 3, validation=dataset(), schedule=mw.schedule.linear(0.0), seed=2,
                          metrics=str(folder / "m.jsonl"), stopping={"best_by": "accuracy", "best_highest": True},
                          progress=progress)
    check(summary.epochs == 3 and summary.steps == 24 and [epoch for epoch, _ in seen] == [1, 2, 3], f"{seen}")
    check(seen[-1][1]["accuracy"] == mw.metrics_of(summary.validation)["accuracy"] == summary.best, f"{seen}")
    check(len((folder / "m.jsonl").read_text().splitlines()) >= 24, "metrics")


def test_an_interrupt_saves_and_is_raised(folder):
    _, trainer = network()
    path = folder / "run.safetensors"

    def progress(p):
        if p.step == 5:
            os.kill(os.getpid(), signal.SIGINT)

    raises(KeyboardInterrupt, lambda: trainer.fit(dataset(), 1000, progress=progress, checkpoint=path))
    _, other = network()
    other.load(path)
    check(5 <= other.steps <= 6 and trainer.steps == other.steps, f"{other.steps}")


def test_predictions_are_those_of_every_form_of_the_model(folder):
    graph, trainer = network()
    trainer.fit(dataset(), 2)
    rows, _ = examples(8)
    wanted = trainer.predict(x=rows).tolist()
    trainer.export(folder / "mil", keep_batch=True)
    read = mw.Graph.read_mil(folder / "mil" / "model.mil")
    (name,) = [name for name, port in mw.Program(read).ports.items() if port.is_output]
    near(mw.Program(read, threads=1).run(x=rows)[name], wanted)
    near(mw.Model(folder / "mil", threads=1).predictor().predict(x=rows)[name], wanted)
    near(mw.Model(folder / "mil", threads=1).predictor().predict(x=rows[:3])[name], wanted[:3])
    raises(ValueError, lambda: mw.Model(folder / "mil").predictor().predict(x=[[1.0]]), "x", "[1, 1]")
    raises(mw.Error, lambda: mw.Model(folder / "mil").predictor().predict(z=rows))
    near(mw.Program(mw.Graph.parse_mil(read.mil(), folder / "mil")).run(x=rows)[name], wanted)
    try:
        trainer.export(folder / "net.mlpackage")
    except mw.Error as error:
        check(error.status == mw.Status.MW_ERROR_UNSUPPORTED, str(error))
        raise Skip("the library was built without protobuf-c") from error
    near(mw.Program(mw.Graph.read_coreml(folder / "net.mlpackage")).run(x=rows[:1])[name], wanted[:1])
    model = mw.Model(folder / "net.mlpackage")  # written for one example, whatever the trainer's batch
    near(model.predictor().predict(x=rows)[name], wanted)
    model.write(folder / "net.onnx")
    near(mw.Program(mw.Graph.read_onnx(folder / "net.onnx")).run(x=rows[:1])[name], wanted[:1])
    check(model.batch >= 1 and model.ports["x"].shape[1:] == (4,) and graph.find("x").shape == (8, 4), f"{model.ports}")


def near(got, wanted):
    got, wanted = sum(got.tolist(), []), sum(wanted, [])
    check(len(got) == len(wanted) and max(abs(a - b) for a, b in zip(got, wanted)) < 1e-5, f"{got} {wanted}")


def test_shapes_are_chosen():
    graph = mw.Graph()
    (graph.input("x", (None, 2)) * 2.0).output("y")
    program = mw.Program(graph)
    check(program.ports["x"].shape == (None, 2), f"{program.ports}")
    for rows in (1, 3):
        program.set_shapes(x=(rows, 2))
        check(program.run(x=[[1.0, 2.0]] * rows)["y"].tolist() == [[2.0, 4.0]] * rows, f"{rows} rows")
    raises(ValueError, lambda: program.run(x=[[1.0, 2.0]]), "[1, 2]", "[3, 2]")


def test_programs_keep_states_and_say_what_they_are():
    graph = mw.Graph()
    w = graph.parameter("w", (2,), mw.init.zeros())
    (w + 1.0).output("next")
    program = mw.Program(graph, device=mw.CPU)
    program.share("next", "w")
    check([program.run()["next"].tolist()[0] for _ in range(3)] == [1.0, 2.0, 3.0], "the state")
    check("engine" in program.where and "add" in program.mil and program.ports["w"].is_parameter, program.where)
    raises(mw.Error, lambda: program.write("z", [1.0]), "z")
    raises(mw.Error, lambda: program.read("z"), "z")


def test_tensors_go_through_files(folder):
    values = {"a": [[1.5, 2.5]], "b": [1, 2, 3], "c": [True, False]}
    for end in ("safetensors", "npz"):
        path = folder / f"t.{end}"
        mw.write_tensors(path, values)
        with mw.Tensors(path) as tensors:
            check({name: tensors[name].tolist() for name in tensors} == values and len(tensors) == 3, end)
            check(tensors.read("b", mw.F32).tolist() == [1.0, 2.0, 3.0], "another type")
            raises(KeyError, lambda t=tensors: t["d"])
    if numpy is not None:
        check(numpy.load(folder / "t.npz")["a"].tolist() == values["a"], "numpy reads it")
        mw.write_tensors(folder / "n.npz", {"x": numpy.arange(6, dtype="f2").reshape(2, 3)})
        check(numpy.load(folder / "n.npz")["x"].dtype == numpy.float16, "fp16")


def test_tables_and_parts_are_data_sets(folder):
    (folder / "t.csv").write_text("a,b,kind\n1,2,cat\n3,4,dog\n5,6,cat\n", encoding="utf-8")
    (folder / "t.jsonl").write_text('{"x": [1, 2], "kind": "b"}\n{"x": [3, 4], "kind": "a"}\n', encoding="utf-8")
    table = mw.Dataset.csv(folder / "t.csv", x={"fields": ["a", "b"]}, y={"fields": ["kind"], "classes": True})
    check(len(table) == 3 and table.classes() == ["cat", "dog"], f"{table.classes()}")
    check(table.columns["x"] == (mw.F32, (2,)), f"{table.columns}")
    batch = mw.Loader(table, 3, shuffle=False).next()
    check(batch["x"].tolist() == [[1, 2], [3, 4], [5, 6]] and batch["y"].tolist() == [0, 1, 0], "the rows")
    named = {"fields": ["kind"], "classes": True, "class_names": ["dog", "cat"]}
    check(mw.Dataset.csv(folder / "t.csv", y=named).classes() == ["dog", "cat"], "classes by name")
    lines = mw.Dataset.jsonl(folder / "t.jsonl", x={}, y={"fields": ["kind"], "classes": True})
    check(mw.Loader(lines, 2, shuffle=False).next()["y"].tolist() == [1, 0], "JSON lines")
    raises(TypeError, lambda: mw.Dataset.csv(folder / "t.csv", x={"field": ["a"]}), "field")
    error = raises(mw.Error, lambda: mw.Dataset.csv(folder / "t.csv", x={"fields": ["c"]}), "c")
    check(error.status == mw.Status.MW_ERROR_ARGUMENT, f"{error.status}")
    mw.write_tensors(folder / "d.npz", {"x": [[1.0], [2.0]], "y": [0, 1]})
    check(mw.Dataset.tensors(folder / "d.npz").columns["x"] == (mw.F32, (1,)), "tensors")
    one, rest = table.split([1, -1], seed=1)
    both = mw.concatenate([one, rest, table.subset([2, 2])])
    check((len(one), len(rest), len(both)) == (1, 2, 5), "parts")
    raises(ValueError, lambda: mw.Dataset.arrays(x=[[1.0]], y=[1, 2]), "examples")
    pictures = mw.Dataset.arrays(x=[[[0.0] * 4] * 4] * 2, scales={"x": 0.5}).augment("x", shift=1, flip=0.5)
    check(mw.Loader(pictures, 2).next()["x"].shape == (2, 4, 4), "augmented")
    raises(mw.Error, lambda: mw.Dataset.images(folder / "none"), "none")
    colored = mw.Dataset.arrays(x=[[[[0.25, 0.5, 0.75]] * 4] * 4] * 2, y=[0.0, 1.0]).normalize([0.5] * 3, [0.25] * 3)
    check(mw.Loader(colored, 2, shuffle=False).next()["x"][0].tolist()[0][0] == [-1.0, 0.0, 1.0], "normalized")
    labeled = mw.Dataset.arrays(x=[[[0.0] * 4] * 4] * 2, y=[[1.0, 0.0, 0.0], [0.0, 0.0, 1.0]]).mix(3, mixup=0.4)
    check(mw.Loader(labeled.prefetch(2, threads=2), 2).next()["y"].shape == (2, 3), "mixed")
