"""Types of what people give, for hints."""
import os
from typing import Any, Mapping, Optional, Sequence, Union

from .arrays import Array, DType

Path = Union[str, "os.PathLike[str]"]
Values = Any  # an Array, numpy's arrays, a buffer, a number, lists of numbers
Shape = Union[int, Sequence[Optional[int]]]
Type = Union[DType, str, int, Any]  # of elements: mw.F32, "fp32", numpy's types
Feeds = Mapping[str, Values]
Arrays = Mapping[str, Array]
