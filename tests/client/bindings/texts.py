"""millwright.text: tokens, a model that writes, and one that is trained, saved and written with."""
import math
import shutil

from frame import ROOT, Skip, check, mw, raises

SMALL = {"trainer": {"threads": 1, "seed": 3}, "tokens": 16, "batch": 2, "learning_rate": 1e-2}


def base(folder):
    """A copy of a small model, and a text of its letters."""
    if "text" in mw.text.library.without:
        raise Skip("there is no libmillwright_text")
    made = folder / "base"
    made.mkdir()
    for name in ("config.json", "model.safetensors", "tokenizer.json"):
        shutil.copy(ROOT / "tests" / "text" / "models" / "llama" / name, made / name)
    text = "".join(chr(97 + i * i % 11 + i % 7) for i in range(600))
    (folder / "notes.txt").write_text(text)
    return made, folder / "notes.txt"


def write(path, prompt="abc", **options):
    with mw.text.Model(path, threads=1) as model:
        return model.generate(prompt, tokens=12, seed=5, **options)


def test_texts_become_tokens_and_come_back(folder):
    made, _ = base(folder)
    with mw.text.Tokenizer(made) as tokenizer:
        ids = tokenizer.encode("abcz.")
        check(ids[:4] == [0, 1, 2, 25] and len(tokenizer) >= 39, f"{ids} of {len(tokenizer)}")
        check(tokenizer.decode(ids) == "abcz.", tokenizer.decode(ids))
    raises(mw.Error, lambda: mw.text.Tokenizer(folder / "nowhere"), "nowhere")


def test_a_model_writes_the_same_text_for_the_same_seed(folder):
    made, _ = base(folder)
    parts = []
    text = write(made, on_text=parts.append)
    check(text == write(made) and text == "".join(parts) and text, f"{text!r} in {parts}")
    check(write(made, temperature=0.0) == write(made, temperature=0.0), "the likeliest tokens")
    stopped = write(made, on_text=lambda part: False)
    check(text.startswith(stopped) and len(stopped) < len(text), f"{stopped!r} of {text!r}")
    raises(mw.Error, lambda: write(made, top_p=2.0), "top_p")


def test_a_model_learns_a_text_and_is_saved(folder):
    """Twice the same bits; adapters are merged; what is saved writes, and so does its GGUF or llama2.c form."""
    made, notes = base(folder)
    before = mw.text.finetune(made, notes, folder / "first", epochs=1, **SMALL)
    after = mw.text.finetune(made, notes, folder / "second", epochs=8, **SMALL)
    check(after["loss"] < before["loss"], f"{before} and {after}")
    check(math.isclose(after["perplexity"], math.exp(after["loss"])), f"{after}")
    check(after["bits_per_byte"] > 0, f"{after}")
    mw.text.finetune(made, notes, folder / "again", epochs=8, **SMALL)
    saved = [(folder / name / "model.safetensors").read_bytes() for name in ("second", "again", "first")]
    check(saved[0] == saved[1] != saved[2], "the same run twice")
    check(write(folder / "second") != write(made), "the text of a model that has learned")
    mw.text.finetune(made, notes, folder / "merged", lora=4, epochs=2, **SMALL)
    check(sorted(path.name for path in (folder / "merged").iterdir()) == sorted(path.name for path in made.iterdir()),
          "the files of the folder")
    check(len(write(folder / "merged")) > 0, "a merged model writes")


def test_progress_and_options_of_data(folder):
    made, notes = base(folder)
    steps = []
    lines = folder / "lines.jsonl"
    lines.write_text("".join(f'{{"text": "{"abcdefghij"[i % 7:] * (1 + i % 4)}"}}\n' for i in range(60)))
    (made / "tokenizer_config.json").write_text('{"eos_token": "e"}')
    for options in ({"padded": True}, {"apart": True}, {"padded": True, "buckets": True, "tokens": 48}):
        found = mw.text.finetune(made, lines, folder / "out", progress=lambda p: steps.append(p.step) and False,
                                 **{**SMALL, **options})
        check(math.isfinite(found["loss"]) and steps, f"{options}: {found}")
    both = {**SMALL, "padded": True, "apart": True}
    raises(mw.Error, lambda: mw.text.finetune(made, lines, folder / "out", **both), "apart has no effect with padded")
    with mw.text.Data(notes, made, tokens=16) as data:  # 600 letters and the end
        check(data.info.tokens == 601 and data.info.examples == 34, f"{data.info.tokens} in {data.info.examples}")


def test_what_cannot_be_written_is_not_trained(folder):
    made, notes = base(folder)
    for out, words in (("none/out", "none"), ("notes.txt", "is to be a folder"), ("x.bin", "no scaled positions")):
        raises(mw.Error, lambda out=out: mw.text.finetune(made, notes, folder / out, **SMALL), words)
    check(not (folder / "notes.txt.tokens").exists(), "nothing was begun")
