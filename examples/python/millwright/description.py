"""What a model says of itself, and how it is written: options of Graph.write, Model.write and Trainer.export."""
import ctypes

from . import abi
from .library import fill, library, text_of, to_c

TEXTS = ("text", "version", "author", "license")


def described(facts, keep):
    """An mw_description of {"text": .., "author": .., "license": .., "version": ..}; other names are pairs of their own.
    """
    made, others = library.mw_description_defaults(), {k: v for k, v in facts.items() if k not in TEXTS}
    for name in TEXTS:
        if name in facts:
            setattr(made, name, to_c(ctypes.c_char_p, facts[name], keep, name))
    pairs = (abi.mw_text_pair * len(others))()
    for item, (key, value) in zip(pairs, others.items()):
        item.key, item.value = to_c(ctypes.c_char_p, key, keep, key), to_c(ctypes.c_char_p, value, keep, key)
    made.pairs, made.pair_count = pairs, len(pairs)
    keep += [made, pairs]
    return made


def facts_of(description):
    """The same of what a file says: {name: text}, without what is empty."""
    if not description:
        return {}
    it = description[0]
    found = {name: text_of(getattr(it, name)) for name in TEXTS}
    found.update({text_of(it.pairs[i].key): text_of(it.pairs[i].value) for i in range(it.pair_count)})
    return {name: text for name, text in found.items() if text}


def write_options(options, keep, what):
    """mw_write_options; description={"author": .., ..}, keep_batch, any_batch, check_only, opset, function."""
    options = dict(options)
    facts = options.pop("description", None)
    filled = fill(library.mw_write_defaults(), options, keep, what)
    if facts is not None:
        filled.description = ctypes.pointer(described(facts, keep))
    return filled
