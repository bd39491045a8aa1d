"""Layers, losses and all other constructors of the C library, by their names without mw_.

Written by tools/python_stubs.py from include/millwright; not to be edited."""
from typing import Any, Optional, Sequence, Tuple, Union

from .arrays import DType
from .graph import Graph, Tensor

Shape = Union[int, Sequence[Optional[int]]]
Axes = Union[int, Sequence[int]]
Type = Union[DType, str, int]
Member = Union[str, int]  # of an enum, by its name or value


def recompute(y: Tensor, inputs: Sequence[Tensor]) -> Tensor:
    """Returns y, and marks the operations between `inputs` and y as a segment."""

def stop_gradient(x: Tensor) -> Tensor:
    """Returns x as a leaf for differentiation: same value, no gradient flows through it."""

def log_mel(
    x: Tensor,
    rate: int,
    *,
    hop: int = ...,
    window: int = ...,
    fft: int = ...,
    mels: int = ...,
    low: float = ...,
    high: float = ...,
    scale: Member = ...,
    equal_area: bool = ...,
    floor: float = ...,
) -> Tensor:
    """y[.., m, t] = log max(floor, sum over k of b[m, k] |X[t, k]|^2), where X[t, k] is the sum over n < W of w[n] x[.., t H + n] exp(-2 pi i k n / N), k = 0 .. N / 2, and w[n] = (1 - cos(2 pi n / W)) / 2, the window of Hann."""

def cross_entropy(logits: Tensor, labels: Tensor) -> Tensor:
    """loss = mean over n of -log softmax(logits)[n, label n]."""

def cross_entropy_with(
    logits: Tensor,
    labels: Tensor,
    *,
    class_count: int = ...,
    label_smoothing: float = ...,
    ignore_index: int = ...,
) -> Tensor:
    """loss = sum over n of l[n] / sum over n of w[label n], for l[n] = -(1 - s) w[label n] log softmax(logits)[n, label n] - s / C sum_c w[c] log softmax(logits)[n, c], over the labels that are not ignored; for probabilities, mean of -sum_c w[c] ((1 - s) p + s / C) log softmax(logits)."""

def nll(log_probabilities: Tensor, labels: Tensor) -> Tensor:
    """loss = mean over n of -log_probabilities[n, label n], the negative log-likelihood."""

def multi_margin(scores: Tensor, labels: Tensor, margin: float) -> Tensor:
    """loss = mean over n of sum over c != label n of max(0, margin - scores[n, label n] + scores[n, c]) / C."""

def accuracy(logits: Tensor, labels: Tensor) -> Tensor:
    """The share of examples whose largest logit is that of their label; ties go to the lowest class, as in numpy.argmax."""

def accuracy_ignoring(logits: Tensor, labels: Tensor, ignore_index: int) -> Tensor:
    """mw_accuracy of the labels that are not `ignore_index`, which go with an ignore_index of the loss; 0 if none counts."""

def mse(y: Tensor, target: Tensor) -> Tensor:
    """loss = mean over all elements of (y - target)^2."""

def l1(y: Tensor, target: Tensor) -> Tensor:
    """loss = mean over all elements of |y - target|; arguments and errors as mw_mse."""

def huber(y: Tensor, target: Tensor, delta: float) -> Tensor:
    """loss = mean over all elements of d^2 / 2 where |d| <= delta, else delta (|d| - delta / 2), for d = y - target."""

def smooth_l1(y: Tensor, target: Tensor, beta: float) -> Tensor:
    """loss = mean over all elements of d^2 / (2 beta) where |d| < beta, else |d| - beta / 2, for d = y - target."""

def binary_cross_entropy(logits: Tensor, target: Tensor, positive_weight: Tensor) -> Tensor:
    """loss = mean over all elements of -q target log sigmoid(logits) - (1 - target) log(1 - sigmoid(logits))."""

def kl_divergence(log_probabilities: Tensor, target: Tensor) -> Tensor:
    """loss = sum over all elements of target (log target - log_probabilities) / N: the divergence of the target from what is predicted, mean over the first axis only (PyTorch's 'batchmean')."""

def hinge(y: Tensor, target: Tensor) -> Tensor:
    """loss = mean over all elements of max(0, 1 - target y)."""

def normalize(x: Tensor, axis: int, epsilon: float) -> Tensor:
    """y = x / max(|x|, epsilon), |x| the Euclidean length along `axis`."""

def cosine_embedding(a: Tensor, b: Tensor, target: Tensor, margin: float) -> Tensor:
    """loss = mean over n of 1 - cos(a[n], b[n]) where target[n] > 0, else max(0, cos(a[n], b[n]) - margin)."""

def triplet(anchor: Tensor, positive: Tensor, negative: Tensor, margin: float) -> Tensor:
    """loss = mean over n of max(0, |anchor[n] - positive[n]| - |anchor[n] - negative[n]| + margin)."""

def info_nce(queries: Tensor, keys: Tensor, temperature: float) -> Tensor:
    """loss = mean over n of -log softmax over m of cos(queries[n], keys[m]) / temperature, at m = n: each query finds its key among those of the batch."""

def nt_xent(a: Tensor, b: Tensor, temperature: float) -> Tensor:
    """loss = mean over the 2 N views of -log softmax over all other views of cos / temperature, at the other view of the same example."""

def ctc(
    log_probabilities: Tensor,
    labels: Tensor,
    input_lengths: Tensor,
    label_lengths: Tensor,
    blank: int,
) -> Tensor:
    """loss = mean over n of -log P(labels[n]) / max(1, label_lengths[n]), P the sum over all ways to spread the labels over the steps: each step says one class or blank, and blanks and repetitions are dropped."""

def focal(logits: Tensor, labels: Tensor, gamma: float) -> Tensor:
    """loss = mean over n of -(1 - p[n])^gamma log p[n], p[n] = softmax(logits)[n, label n]: cross-entropy in which examples that are right already count less."""

def binary_focal(logits: Tensor, target: Tensor, alpha: float, gamma: float) -> Tensor:
    """loss = mean over all elements of -a t (1 - p)^gamma log p - (1 - a)(1 - t) p^gamma log(1 - p), p = sigmoid(logits), for targets t of 0 or 1; in between as torchvision has it, with (1 - p) t + p (1 - t) in the power."""

def dice(y: Tensor, target: Tensor, axes: Axes, smooth: float) -> Tensor:
    """loss = mean of 1 - (2 sum y target + smooth) / (sum y + sum target + smooth), each sum over `axes`: how little two masks overlap."""

def poisson_nll(log_mean: Tensor, target: Tensor) -> Tensor:
    """loss = mean over all elements of e^log_mean - target log_mean: counts, of which the logarithm of the mean is predicted."""

def pinball(y: Tensor, target: Tensor, q: float) -> Tensor:
    """loss = mean over all elements of max(q d, (q - 1) d), d = target - y: its minimum is the quantile q of the target."""

def relu(x: Tensor) -> Tensor:
    """y = max(x, 0)."""

def sigmoid(x: Tensor) -> Tensor:
    """y = 1 / (1 + e^-x); arguments and errors as mw_relu."""

def silu(x: Tensor) -> Tensor:
    """y = x * sigmoid(x); arguments and errors as mw_relu."""

def gelu(x: Tensor, mode: Member) -> Tensor:
    """y = gelu(x) in the form that `mode` names; arguments as mw_relu."""

def relu6(x: Tensor) -> Tensor:
    """y = min(max(x, 0), 6); arguments and errors as mw_relu."""

def leaky_relu(x: Tensor, alpha: float) -> Tensor:
    """y = x where x >= 0, else alpha * x; arguments and errors as mw_relu."""

def prelu(x: Tensor, alpha: Tensor) -> Tensor:
    """y = x where x >= 0, else alpha[c] * x, with one slope per channel c."""

def clamped_relu(x: Tensor, alpha: float, beta: float) -> Tensor:
    """y = min(x, beta) where x >= 0, else min(alpha * x, beta); arguments and errors as mw_relu."""

def thresholded_relu(x: Tensor, alpha: float) -> Tensor:
    """y = x where x >= alpha, else 0; arguments and errors as mw_relu."""

def elu(x: Tensor, alpha: float) -> Tensor:
    """y = x where x > 0, else alpha * (e^x - 1); arguments and errors as mw_relu."""

def softplus(x: Tensor) -> Tensor:
    """y = ln(1 + e^x); arguments and errors as mw_relu."""

def softplus_parametric(x: Tensor, alpha: Tensor, beta: Tensor) -> Tensor:
    """y = alpha[c] * ln(1 + e^(beta[c] * x)), with one pair of numbers per channel c."""

def softsign(x: Tensor) -> Tensor:
    """y = x / (1 + |x|); arguments and errors as mw_relu."""

def scaled_tanh(x: Tensor, alpha: float, beta: float) -> Tensor:
    """y = alpha * tanh(beta * x); arguments and errors as mw_relu."""

def sigmoid_hard(x: Tensor, alpha: float, beta: float) -> Tensor:
    """y = min(max(alpha * x + beta, 0), 1); arguments and errors as mw_relu."""

def linear_activation(x: Tensor, alpha: float, beta: float) -> Tensor:
    """y = alpha * x + beta; arguments and errors as mw_relu."""

def scaled_dot_product_attention(query: Tensor, key: Tensor, value: Tensor, mask: Tensor) -> Tensor:
    """y = softmax(query key^T / sqrt(E) + mask) value, the softmax over the S keys."""

def multi_head_attention_layer(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    heads: int,
    mask: Tensor,
    name: str,
) -> Tensor:
    """mw_scaled_dot_product_attention over `heads` parts of the last extent, between products with new parameters: PyTorch's MultiheadAttention with batch_first."""

def equal(x: Tensor, y: Tensor) -> Tensor:
    """r = (x == y)."""

def not_equal(x: Tensor, y: Tensor) -> Tensor:
    """r = (x != y); the rest as mw_equal."""

def less(x: Tensor, y: Tensor) -> Tensor:
    """r = (x < y); the rest as mw_equal."""

def less_equal(x: Tensor, y: Tensor) -> Tensor:
    """r = (x <= y); the rest as mw_equal."""

def greater(x: Tensor, y: Tensor) -> Tensor:
    """r = (x > y); the rest as mw_equal."""

def greater_equal(x: Tensor, y: Tensor) -> Tensor:
    """r = (x >= y); the rest as mw_equal."""

def logical_and(x: Tensor, y: Tensor) -> Tensor:
    """r = x and y."""

def logical_or(x: Tensor, y: Tensor) -> Tensor:
    """r = x or y; arguments and errors as mw_logical_and."""

def logical_xor(x: Tensor, y: Tensor) -> Tensor:
    """r = x differs from y; arguments and errors as mw_logical_and."""

def logical_not(x: Tensor) -> Tensor:
    """r = not x."""

def select(cond: Tensor, a: Tensor, b: Tensor) -> Tensor:
    """r = a where cond is true, else b."""

def make_list(graph: Graph, dtype: Type, element: Shape, length: int, dynamic: bool) -> Tensor:
    """A list of `length` zeros of shape `element`."""

def list_write(list: Tensor, index: Tensor, value: Tensor) -> Tensor:
    """The list with value at index."""

def list_read(list: Tensor, index: Tensor) -> Tensor:
    """The element at index."""

def list_gather(list: Tensor, indices: Tensor) -> Tensor:
    """The elements at `indices`, stacked."""

def list_scatter(list: Tensor, indices: Tensor, value: Tensor) -> Tensor:
    """The list with value[i] at indices[i]; of equal indices the last counts."""

def list_length(list: Tensor) -> Tensor:
    """The length of a list."""

def conv(
    x: Tensor,
    weight: Tensor,
    bias: Tensor,
    *,
    stride: Sequence[int] = ...,
    dilation: Sequence[int] = ...,
    groups: int = ...,
    pad_type: Member = ...,
    pad: Sequence[int] = ...,
    output_shape: Shape = ...,
) -> Tensor:
    """y[n, o, p] = bias[o] + sum over c, k of x[n, c, p s + k d - b] weight[o, c, k]: cross-correlation, the kernel is not flipped; x is 0 outside, and channel o sees the C / G channels of its group."""

def conv_transpose(
    x: Tensor,
    weight: Tensor,
    bias: Tensor,
    *,
    stride: Sequence[int] = ...,
    dilation: Sequence[int] = ...,
    groups: int = ...,
    pad_type: Member = ...,
    pad: Sequence[int] = ...,
    output_shape: Shape = ...,
) -> Tensor:
    """The transpose of the linear map mw_conv, with the same numbers: y[n, o, p s + k d - b] = bias[o] + sum of x[n, c, p] weight[c, o, k]."""

def conv_layer(
    x: Tensor,
    channels: int,
    kernel: Shape,
    name: str,
    *,
    stride: Sequence[int] = ...,
    dilation: Sequence[int] = ...,
    groups: int = ...,
    pad_type: Member = ...,
    pad: Sequence[int] = ...,
    bias: bool = ...,
    output_shape: Shape = ...,
) -> Tensor:
    """mw_conv with new parameters: PyTorch's Conv1d, Conv2d and Conv3d."""

def conv_transpose_layer(
    x: Tensor,
    channels: int,
    kernel: Shape,
    name: str,
    *,
    stride: Sequence[int] = ...,
    dilation: Sequence[int] = ...,
    groups: int = ...,
    pad_type: Member = ...,
    pad: Sequence[int] = ...,
    bias: bool = ...,
    output_shape: Shape = ...,
) -> Tensor:
    """mw_conv_transpose with new parameters: PyTorch's ConvTranspose1d, 2d and 3d."""

def add(x: Tensor, y: Tensor) -> Tensor:
    """r = x + y."""

def sub(x: Tensor, y: Tensor) -> Tensor:
    """r = x - y; arguments and errors as mw_add."""

def mul(x: Tensor, y: Tensor) -> Tensor:
    """r = x * y; arguments and errors as mw_add."""

def real_div(x: Tensor, y: Tensor) -> Tensor:
    """r = x / y; arguments and errors as mw_add."""

def floor_div(x: Tensor, y: Tensor) -> Tensor:
    """r = floor(x / y), toward minus infinity; arguments and errors as mw_add."""

def mod(x: Tensor, y: Tensor) -> Tensor:
    """r = x - floor(x / y) * y, which has the sign of y (PyTorch's remainder); arguments and errors as mw_add."""

def maximum(x: Tensor, y: Tensor) -> Tensor:
    """r = the larger of x and y, NaN if either is; arguments and errors as mw_add."""

def minimum(x: Tensor, y: Tensor) -> Tensor:
    """r = the smaller of x and y, NaN if either is; arguments and errors as mw_add."""

def pow(x: Tensor, y: Tensor) -> Tensor:
    """r = x^y; a negative x is defined for integral y only; arguments and errors as mw_add."""

def add_scalar(x: Tensor, value: float) -> Tensor:
    """r = x + value: mw_add with a scalar constant of x's dtype."""

def mul_scalar(x: Tensor, value: float) -> Tensor:
    """r = x * value: mw_mul with a scalar constant of x's dtype; arguments and errors as mw_add_scalar."""

def neg(x: Tensor) -> Tensor:
    """r = -x: mw_mul_scalar(x, -1), as MIL has no negation."""

def abs(x: Tensor) -> Tensor:
    """r = |x|."""

def sign(x: Tensor) -> Tensor:
    """r = -1, 0 or 1 by the sign of x; arguments and errors as mw_abs."""

def square(x: Tensor) -> Tensor:
    """r = x * x; arguments and errors as mw_abs."""

def sqrt(x: Tensor) -> Tensor:
    """r = sqrt(x); NaN for negative x."""

def rsqrt(x: Tensor, epsilon: float) -> Tensor:
    """r = 1 / sqrt(x + epsilon)."""

def inverse(x: Tensor, epsilon: float) -> Tensor:
    """r = 1 / (x + epsilon); arguments and errors as mw_rsqrt."""

def log(x: Tensor, epsilon: float) -> Tensor:
    """r = ln(x + epsilon); arguments and errors as mw_rsqrt."""

def exp(x: Tensor) -> Tensor:
    """r = e^x; arguments and errors as mw_sqrt."""

def erf(x: Tensor) -> Tensor:
    """r = the error function of x; arguments and errors as mw_sqrt."""

def tanh(x: Tensor) -> Tensor:
    """r = the hyperbolic tangent of x; arguments and errors as mw_sqrt."""

def exp2(x: Tensor) -> Tensor:
    """r = 2^x; arguments and errors as mw_abs."""

def floor(x: Tensor) -> Tensor:
    """r = the largest integer not above x; arguments and errors as mw_sqrt."""

def ceil(x: Tensor) -> Tensor:
    """r = the smallest integer not below x; arguments and errors as mw_sqrt."""

def round(x: Tensor) -> Tensor:
    """r = the integer nearest to x, of two equally near ones the even one; arguments and errors as mw_sqrt."""

def sin(x: Tensor) -> Tensor:
    """r = the sine of x in radians; arguments and errors as mw_sqrt."""

def cos(x: Tensor) -> Tensor:
    """r = the cosine of x in radians; arguments and errors as mw_sqrt."""

def tan(x: Tensor) -> Tensor:
    """r = the tangent of x in radians; arguments and errors as mw_sqrt."""

def asin(x: Tensor) -> Tensor:
    """r = the angle in [-pi/2, pi/2] whose sine is x; arguments and errors as mw_sqrt."""

def acos(x: Tensor) -> Tensor:
    """r = the angle in [0, pi] whose cosine is x; arguments and errors as mw_sqrt."""

def atan(x: Tensor) -> Tensor:
    """r = the angle in (-pi/2, pi/2) whose tangent is x; arguments and errors as mw_sqrt."""

def sinh(x: Tensor) -> Tensor:
    """r = the hyperbolic sine of x; arguments and errors as mw_sqrt."""

def cosh(x: Tensor) -> Tensor:
    """r = the hyperbolic cosine of x; arguments and errors as mw_sqrt."""

def atanh(x: Tensor) -> Tensor:
    """r = the number whose hyperbolic tangent is x; arguments and errors as mw_sqrt."""

def threshold(x: Tensor, alpha: float) -> Tensor:
    """r = max(x, alpha)."""

def clip(x: Tensor, alpha: float, beta: float) -> Tensor:
    """r = min(max(x, alpha), beta)."""

def cast(x: Tensor, dtype: Type) -> Tensor:
    """r = x in another element type."""

def one_hot(indices: Tensor, size: int, axis: int, dtype: Type, on: float, off: float) -> Tensor:
    """y = `on` at the position that each index names along a new axis, `off` elsewhere."""

def gather(x: Tensor, indices: Tensor, axis: int) -> Tensor:
    """y = x[.., indices, ..]: slices of x along axis."""

def gather_along_axis(x: Tensor, indices: Tensor, axis: int) -> Tensor:
    """y[a, j, b] = x[a, indices[a, j, b], b]: one element per index, as numpy.take_along_axis."""

def gather_nd(x: Tensor, indices: Tensor, batch_dims: int) -> Tensor:
    """y[a, c, b] = x[a, indices[a, c, 0], .., indices[a, c, K - 1], b]: slices of x chosen by coordinates."""

def scatter(data: Tensor, indices: Tensor, updates: Tensor, axis: int, mode: Member) -> Tensor:
    """y = data, with updates[a, j, b] combined into y[a, indices[j], b]."""

def scatter_along_axis(data: Tensor, indices: Tensor, updates: Tensor, axis: int, mode: Member) -> Tensor:
    """y = data, with updates[a, j, b] combined into y[a, indices[a, j, b], b]; else as mw_scatter."""

def scatter_nd(data: Tensor, indices: Tensor, updates: Tensor, mode: Member) -> Tensor:
    """y = data, with updates[c, b] combined into y[indices[c, 0], .., indices[c, K - 1], b]; else as mw_scatter."""

def non_zero(x: Tensor) -> Tensor:
    """y = coordinates of the elements that are not 0 (NaN is not), in row-major order."""

def embedding(indices: Tensor, count: int, dim: int, name: str) -> Tensor:
    """y = weight[indices, :] with a new parameter: PyTorch's Embedding."""

def upsample_nearest_neighbor(x: Tensor, scale_height: float, scale_width: float) -> Tensor:
    """y[.., i, j] = x[.., floor(i * H / height), floor(j * W / width)] for y of extents height and width."""

def upsample_bilinear(x: Tensor, scale_height: float, scale_width: float, align_corners: bool) -> Tensor:
    """y = x resized linearly by a factor; arguments, result and errors as mw_upsample_nearest_neighbor."""

def resize_nearest_neighbor(x: Tensor, height: int, width: int) -> Tensor:
    """y[.., i, j] = x[.., floor(i * H / height), floor(j * W / width)] (PyTorch's 'nearest', computed exactly)."""

def resize_bilinear(x: Tensor, height: int, width: int, sampling: Member) -> Tensor:
    """y = x resized linearly; arguments, result and errors as mw_resize_nearest_neighbor."""

def resize(x: Tensor, height: int, width: int, interpolation: Member, sampling: Member) -> Tensor:
    """y = x resized linearly or to the nearest element; needs MW_IOS17."""

def crop(x: Tensor, top: int, bottom: int, left: int, right: int) -> Tensor:
    """y = x without `top` and `bottom` rows, `left` and `right` columns."""

def matmul(x: Tensor, y: Tensor, transposes: int) -> Tensor:
    """r = x y, a matrix product over the last two axes; the axes before them broadcast."""

def einsum(a: Tensor, b: Tensor, equation: str) -> Tensor:
    """r = a b, a sum over the axis that both share and the result lacks, in one of MIL's two equations."""

def linear(x: Tensor, weight: Tensor, bias: Tensor) -> Tensor:
    """r = x weight^T + bias."""

def dense(x: Tensor, units: int, name: str) -> Tensor:
    """r = x weight^T + bias with new parameters: PyTorch's Linear."""

def softmax(x: Tensor, axis: int) -> Tensor:
    """y = softmax(x) along axis."""

def log_softmax(x: Tensor, axis: int) -> Tensor:
    """y = log softmax(x) along axis, as z - log sum e^z with z = x - max(x)."""

def layer_norm(x: Tensor, axes: Axes, gamma: Tensor, beta: Tensor, epsilon: float) -> Tensor:
    """y = (x - mean(x)) / sqrt(var(x) + epsilon) * gamma + beta, with mean and var over the axes jointly."""

def instance_norm(x: Tensor, gamma: Tensor, beta: Tensor, epsilon: float) -> Tensor:
    """y = (x - mean(x)) / sqrt(var(x) + epsilon) * gamma + beta, with mean and var over the positions of one channel of one example."""

def group_norm(x: Tensor, groups: int, gamma: Tensor, beta: Tensor, epsilon: float) -> Tensor:
    """y = (x - mean(x)) / sqrt(var(x) + epsilon) * gamma + beta, with mean and var over the channels of one group and their positions."""

def rms_norm(x: Tensor, axes: Axes, weight: Tensor, epsilon: float) -> Tensor:
    """y = x / sqrt(mean(x^2) + epsilon) * weight, with the mean over the axes jointly."""

def l2_norm(x: Tensor, epsilon: float) -> Tensor:
    """y = x / sqrt(sum(x^2) + epsilon), with the sum over the last three axes."""

def batch_norm(x: Tensor, mean: Tensor, variance: Tensor, gamma: Tensor, beta: Tensor, epsilon: float) -> Tensor:
    """y = (x - mean) / sqrt(variance + epsilon) * gamma + beta, each channel with its own numbers."""

def local_response_norm(x: Tensor, size: int, alpha: float, beta: float, k: float) -> Tensor:
    """y = x / (k + alpha / size * sum(x^2))^beta, with the sum over a window of channels around each."""

def layer_norm_layer(x: Tensor, axis_count: int, epsilon: float, name: str) -> Tensor:
    """mw_layer_norm over the last axes with new parameters: PyTorch's LayerNorm."""

def rms_norm_layer(x: Tensor, axis_count: int, epsilon: float, name: str) -> Tensor:
    """mw_rms_norm over the last axes with the new parameter `name`.weight (ones): PyTorch's RMSNorm."""

def group_norm_layer(x: Tensor, groups: int, epsilon: float, name: str) -> Tensor:
    """mw_group_norm with the new parameters `name`.weight (ones) and `name`.bias (zeros), both [C]: PyTorch's GroupNorm."""

def instance_norm_layer(x: Tensor, epsilon: float, name: str) -> Tensor:
    """mw_instance_norm with the new parameters `name`.weight (ones) and `name`.bias (zeros), both [C]: PyTorch's InstanceNorm with affine = True."""

def batch_norm_layer(x: Tensor, momentum: float, epsilon: float, name: str) -> Tensor:
    """y = (x - mean) / sqrt(variance + epsilon) * weight + bias for each channel: PyTorch's BatchNorm1d, 2d and 3d."""

def max_pool(
    x: Tensor,
    kernel: Shape,
    *,
    stride: Sequence[int] = ...,
    pad_type: Member = ...,
    pad: Sequence[int] = ...,
    ceil_mode: bool = ...,
    exclude_padding: bool = ...,
) -> Tensor:
    """y[n, c, o] = largest of x[n, c, o s - b + k] over k in [0, K)."""

def avg_pool(
    x: Tensor,
    kernel: Shape,
    *,
    stride: Sequence[int] = ...,
    pad_type: Member = ...,
    pad: Sequence[int] = ...,
    ceil_mode: bool = ...,
    exclude_padding: bool = ...,
) -> Tensor:
    """y[n, c, o] = sum of x[n, c, o s - b + k] over k in [0, K), divided by the elements of the window that stand within [-b, S + a) of each axis, or by those within x (exclude_padding); arguments, shapes and errors as mw_max_pool."""

def l2_pool(
    x: Tensor,
    kernel: Shape,
    *,
    stride: Sequence[int] = ...,
    pad_type: Member = ...,
    pad: Sequence[int] = ...,
    ceil_mode: bool = ...,
    exclude_padding: bool = ...,
) -> Tensor:
    """y[n, c, o] = sqrt(sum of x[n, c, o s - b + k]^2 over k in [0, K)); one or two spatial axes, the rest as mw_max_pool."""

def quantize(x: Tensor, scale: Tensor, zero_point: Tensor, axis: int, dtype: Type) -> Tensor:
    """y = clip(round(x / scale) + zero_point), ties to even, to the range of dtype."""

def dequantize(x: Tensor, scale: Tensor, zero_point: Tensor, axis: int) -> Tensor:
    """y = scale (x - zero_point)."""

def fake_quantize(x: Tensor, scale: Tensor, zero_point: Tensor, axis: int, dtype: Type) -> Tensor:
    """y = dequantize(quantize(x)), with the straight-through gradient: for training that knows of the quantization."""

def constexpr_blockwise_shift_scale(data: Tensor, scale: Tensor, offset: Tensor) -> Tensor:
    """y = scale (data - offset)."""

def constexpr_lut_to_dense(indices: Tensor, lut: Tensor, vector_axis: int) -> Tensor:
    """y = lut[indices], from one table for each block of elements; an index may stand for a vector."""

def constexpr_sparse_to_dense(nonzero_data: Tensor, mask: Tensor) -> Tensor:
    """y = the elements of nonzero_data, in order, where mask is 1, and 0 elsewhere."""

def random_normal(graph: Graph, dtype: Type, shape: Shape, mean: float, stddev: float, seed: int) -> Tensor:
    """y = mean + stddev * sqrt(-2 ln((w0 + 1) / 2^32)) * cos(2 pi w1 / 2^32): normal numbers by Box and Muller."""

def random_uniform(graph: Graph, dtype: Type, shape: Shape, low: float, high: float, seed: int) -> Tensor:
    """y = low + (high - low) * floor(w0 / 2^8) / 2^24, uniform in [low, high); what rounds to high becomes the largest number of dtype below it."""

def random_bernoulli(graph: Graph, dtype: Type, shape: Shape, prob: float, seed: int) -> Tensor:
    """y = 1 where w0 / 2^32 < prob, else 0."""

def random_categorical(x: Tensor, mode: Member, size: int, seed: int) -> Tensor:
    """y[.., s] = the first class c with p[0] + .. + p[c] > (w0 / 2^32) * sum(p): `size` classes drawn from each row, with replacement, by the inverse distribution function."""

def dropout(x: Tensor, p: float, name: str) -> Tensor:
    """y = x * mask / (1 - p), each element of the mask 0 with probability p, else 1: a new mask at every training step."""

def noise_normal(graph: Graph, dtype: Type, shape: Shape, mean: float, stddev: float, name: str) -> Tensor:
    """y = mean + stddev * z(u), z the quantile function of the normal distribution: |z| <= 4.97 (beyond lie 7e-7 of the distribution), no value twice but by rounding."""

def noise_uniform(graph: Graph, dtype: Type, shape: Shape, low: float, high: float, name: str) -> Tensor:
    """y = low + (high - low) u, in [low, high): u = (k + 1/2) / 923,521 for k from 0 on, each equally likely."""

def noise_bernoulli(graph: Graph, dtype: Type, shape: Shape, prob: float, name: str) -> Tensor:
    """y = 1 with probability prob, else 0; the same in fp32 and fp16."""

def lstm_layer(
    x: Tensor,
    hidden: int,
    name: str,
    *,
    layers: int = ...,
    bidirectional: bool = ...,
    batch_first: bool = ...,
    bias: bool = ...,
    dropout: float = ...,
) -> Tuple[Tensor, ...]:
    """mw_lstm with new parameters: PyTorch's LSTM."""

def gru_layer(
    x: Tensor,
    hidden: int,
    name: str,
    *,
    layers: int = ...,
    bidirectional: bool = ...,
    batch_first: bool = ...,
    bias: bool = ...,
    dropout: float = ...,
) -> Tuple[Tensor, ...]:
    """mw_gru with reset_after and new parameters: PyTorch's GRU."""

def reduce_sum(x: Tensor, axes: Axes, keep_dims: bool) -> Tensor:
    """y = sum of x over the axes."""

def reduce_mean(x: Tensor, axes: Axes, keep_dims: bool) -> Tensor:
    """y = mean of x over the axes (integers: truncated); arguments as mw_reduce_sum."""

def reduce_max(x: Tensor, axes: Axes, keep_dims: bool) -> Tensor:
    """y = largest of x over the axes; arguments as mw_reduce_sum."""

def reduce_min(x: Tensor, axes: Axes, keep_dims: bool) -> Tensor:
    """y = smallest of x over the axes; arguments as mw_reduce_max."""

def reduce_log_sum_exp(x: Tensor, axes: Axes, keep_dims: bool) -> Tensor:
    """y = ln(sum of e^x over the axes), the maximum taken out first (integers: truncated); arguments as mw_reduce_max."""

def reduce_prod(x: Tensor, axes: Axes, keep_dims: bool) -> Tensor:
    """y = product of x over the axes (integers wrap around); arguments as mw_reduce_sum."""

def reduce_sum_square(x: Tensor, axes: Axes, keep_dims: bool) -> Tensor:
    """y = sum of x^2 over the axes (integers wrap around); arguments as mw_reduce_sum."""

def reduce_l1_norm(x: Tensor, axes: Axes, keep_dims: bool) -> Tensor:
    """y = sum of |x| over the axes (integers wrap around); arguments as mw_reduce_sum."""

def reduce_l2_norm(x: Tensor, axes: Axes, keep_dims: bool) -> Tensor:
    """y = sqrt(sum of x^2 over the axes) (integers: truncated); arguments as mw_reduce_sum."""

def reduce_log_sum(x: Tensor, axes: Axes, keep_dims: bool) -> Tensor:
    """y = ln(sum of x over the axes) (integers: truncated, and 0 for a negative sum); arguments as mw_reduce_max."""

def reduce_argmax(x: Tensor, axis: int, keep_dims: bool) -> Tensor:
    """y = position of the largest x along axis: the first of equal ones, or of NaNs, as in NumPy."""

def reduce_argmin(x: Tensor, axis: int, keep_dims: bool) -> Tensor:
    """y = position of the smallest x along axis; the rest as mw_reduce_argmax."""

def cumsum(x: Tensor, axis: int, exclusive: bool, reverse: bool) -> Tensor:
    """y[i] = x[0] + .. + x[i] along axis."""

def resample(
    x: Tensor,
    coordinates: Tensor,
    *,
    interpolation: Member = ...,
    border: Member = ...,
    value: float = ...,
    align_corners: bool = ...,
) -> Tensor:
    """y[n, c, i, j] = x[n, c] at the place coordinates[n, i, j], of which the first number is the column, the second the row."""

def affine(x: Tensor, transform_matrix: Tensor, height: int, width: int, align_corners: bool) -> Tensor:
    """y[n, c, i, j] = x[n, c] at the place (u, v): u = a0 s + a1 t + a2, v = b0 s + b1 t + b2, where (s, t) are column and row of the element in the result, and all four count from -1 to 1."""

def crop_resize(
    x: Tensor,
    boxes: Tensor,
    indices: Tensor,
    height: int,
    width: int,
    *,
    box: Member = ...,
    normalized: bool = ...,
    spatial_scale: float = ...,
    sampling: Member = ...,
    pad_value: float = ...,
) -> Tensor:
    """y[r, c] = the part boxes[r] of image indices[r] of x, resized linearly."""

def identity(x: Tensor) -> Tensor:
    """y = x."""

def reshape(x: Tensor, shape: Shape) -> Tensor:
    """y = the elements of x in row-major order, in another shape."""

def flatten2d(x: Tensor, axis: int) -> Tensor:
    """y = x as a matrix [A, B]: A the product of the extents before axis, B that of the others."""

def transpose(x: Tensor, perm: Axes) -> Tensor:
    """y[i] has the extent of x at perm[i]."""

def expand_dims(x: Tensor, axes: Axes) -> Tensor:
    """y = x with axes of extent 1 put in."""

def squeeze(x: Tensor, axes: Axes) -> Tensor:
    """y = x without axes of extent 1."""

def concat(values: Sequence[Tensor], axis: int) -> Tensor:
    """y = the values one after the other along axis."""

def stack(values: Sequence[Tensor], axis: int) -> Tensor:
    """y = the values side by side along a new axis."""

def slice_update_at(x: Tensor, update: Tensor, begin: Tensor) -> Tensor:
    """mw_slice_update where begin is computed, as a cache needs it."""

def reverse(x: Tensor, axes: Axes) -> Tensor:
    """y = x with the order of the elements along the axes turned round."""

def reverse_sequence(x: Tensor, lengths: Tensor, seq_axis: int, batch_axis: int) -> Tensor:
    """y[.., s, ..] = x[.., lengths[b] - 1 - s, ..] for s < lengths[b], else x[.., s, ..], where b is the position on batch_axis and s that on seq_axis."""

def sliding_windows(x: Tensor, axis: int, size: int, stride: int) -> Tensor:
    """y[.., w, k, ..] = x[.., w stride + k, ..]: the windows of an axis."""

def band_part(x: Tensor, lower: int, upper: int) -> Tensor:
    """y[.., m, n] = x[.., m, n] within the band: (lower < 0 or m - n <= lower) and (upper < 0 or n - m <= upper); else 0."""

def tile(x: Tensor, reps: Shape) -> Tensor:
    """y = x repeated reps[i] times along axis i."""

def fill(graph: Graph, dtype: Type, shape: Shape, value: float) -> Tensor:
    """y = `value` everywhere."""

def fill_like(ref: Tensor, dtype: Type, value: float) -> Tensor:
    """y = `value` everywhere, in the shape of ref."""

def shape_of(x: Tensor) -> Tensor:
    """y = the extents of x."""

def range_1d(graph: Graph, dtype: Type, start: float, end: float, step: float) -> Tensor:
    """y = start, start + step, ... as long as it stays before end."""

def argsort(x: Tensor, axis: int, ascending: bool) -> Tensor:
    """r = the indices along axis that sort x; MIL's own default is descending."""

def depth_to_space(x: Tensor, block: int) -> Tensor:
    """y[n, c, h b + i, w b + j] = x[n, (i b + j) C + c, h, w]: TensorFlow's order (DCR of ONNX)."""

def space_to_depth(x: Tensor, block: int) -> Tensor:
    """y[n, (i b + j) C + c, h, w] = x[n, c, h b + i, w b + j]: the inverse of mw_depth_to_space."""

def pixel_shuffle(x: Tensor, factor: int) -> Tensor:
    """y[n, c, h b + i, w b + j] = x[n, c b b + i b + j, h, w]: PyTorch's order (CRD of ONNX)."""

def pixel_unshuffle(x: Tensor, factor: int) -> Tensor:
    """y[n, c b b + i b + j, h, w] = x[n, c, h b + i, w b + j]: the inverse of mw_pixel_shuffle."""

def example_norms(dx: Sequence[Tensor]) -> Tensor:
    """n[b] = sqrt(sum over i and all elements of dx[i][b]^2): how long the gradient of each example is."""
