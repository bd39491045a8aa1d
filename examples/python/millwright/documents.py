"""What the headers say of the constructors, by their names without mw_.

Written by tools/python_stubs.py from include/millwright; not to be edited."""
DOCUMENTS = {
    "recompute": """Returns y, and marks the operations between `inputs` and y as a segment. The backward pass computes a segment again
instead of keeping its values (gradient checkpointing).

   for (int i = 0; i < layers; i++) {
       mw_tensor *start = x;
       x = mw_recompute(block(x, i), &start, 1);
   }

inputs  `count` tensors at which the segment starts. With 0 inputs it starts at the leaves. Leaves that the segment
        reads (parameters, inputs) need not be listed; each copy of the graph finds them again. In a loop or branch,
        the values that the segment reads from outside need not be listed either
return  an identity of y, to be used in its place; lives as long as the graph. NULL for NULL
memory  n equal layers in segments of k keep n / k inputs and the values of one segment: least at k = sqrt(n), for
        about one more forward pass. Segments may be nested, and may overlap: each is computed again on its own
bits    gradients are the same to the bit, unless a value is used both inside and outside of a segment: then its
        parts are added in another order; so are those of a parameter that is. On MW_DEVICE_ANE what is rounded
        depends on how many operations read a value (`wide_chains`, docs/chip.md). Operations named random_* are
        kept, not repeated; noise and dropout give the same numbers again
note    values inside a segment have no gradient of their own: name them among the inputs. The mark goes along into
        the copies that trainers make, and is lost in MIL text
errors  MW_ERROR_ARGUMENT if an input is NULL or of another graph, or if nothing lies between them and y
""",
    "stop_gradient": """Returns x as a leaf for differentiation: same value, no gradient flows through it.
""",
    "log_mel": """y[.., m, t] = log max(floor, sum over k of b[m, k] |X[t, k]|^2), where X[t, k] is the sum over n < W of
w[n] x[.., t H + n] exp(-2 pi i k n / N), k = 0 .. N / 2, and w[n] = (1 - cos(2 pi n / W)) / 2, the window of Hann.
Band m of M is a triangle over frequencies: with M + 2 points f[0] .. f[M + 1] spread evenly over mel from `low` to
`high`, b[m, k] = max(0, min((q - f[m]) / (f[m + 1] - f[m]), (f[m + 2] - q) / (f[m + 2] - f[m + 1]))) at
q = k r / N; times 2 / (f[m + 2] - f[m]) with equal_area.
x        [.., T]     F16 or F32; T >= W known. Frames begin at sample 0 and end inside of x: to have them in the
         middle, as others do with center=True, pad x by N / 2 at both ends (mw_pad, MW_PAD_REFLECT)
options  NULL = mw_log_mel_defaults(16000)
return   [.., M, 1 + floor((T - W) / H)]  dtype of x
errors   MW_ERROR_SHAPE for a rank of 0 or MW_RANK_MAX, or T < W; MW_ERROR_DTYPE; MW_ERROR_ARGUMENT for a number out
         of its range, or a band that lies between two k: fewer mels or a longer fft
vjp      of its operations; 0 where the floor holds
source   two convolutions with constants: the first over blocks of G = gcd(W, H) samples, with a kernel of W / G
         blocks, which a chip takes as far as its kernels go (the defaults: 5). In fp16 powers end at 65504, which
         W = 400 samples of at most 1 do not reach, and floors below 6e-5 are lost
""",
    "cross_entropy": """loss = mean over n of -log softmax(logits)[n, label n].
logits  [N, .., C]  F16 or F32
labels  [N, ..]     I32 in [0, C) (checked on the host when fed; on the ANE C <= 524288, <millwright/ops/gather.h>),
        or
        [N, .., C]  dtype of logits: one-hot or class probabilities p, then
                    loss = mean of -sum_c p log softmax(logits)
return  scalar, dtype of logits; stable for any finite logits. What one label adds, and its gradient, is right
        to 2^-20 of itself in F32 and 2^-8 in F16 however confident the prediction (mw_log_softmax)
errors  MW_ERROR_SHAPE if labels fit neither form, MW_ERROR_DTYPE if their type does not
vjp     dlogits = dy (softmax(logits) - p) / N for probabilities that sum to 1, generally
        dy (softmax(logits) sum_c p - p) / N; one-hot labels get dp = -dy log softmax(logits) / N, integers none
""",
    "cross_entropy_with": """loss = sum over n of l[n] / sum over n of w[label n], for
       l[n] = -(1 - s) w[label n] log softmax(logits)[n, label n] - s / C sum_c w[c] log softmax(logits)[n, c],
over the labels that are not ignored; for probabilities,
       mean of -sum_c w[c] ((1 - s) p + s / C) log softmax(logits).

    mw_cross_entropy_options options = mw_cross_entropy_defaults();
    options.ignore_index = -100;                               // padding
    mw_tensor *loss = mw_cross_entropy_with(logits, labels, &options);

logits, labels  as mw_cross_entropy
return   scalar. If no label of the batch counts it is 0 with gradient 0, where PyTorch has NaN: such a batch is no
         reason to refuse a step
evaluation  reports the same quotient over the whole data set, as if it were one batch: a label counts by its weight
         in whichever batch it comes. MW_ERROR_NUMERIC if none counts
note     an input that also serves a use without this ignore_index (mw_cross_entropy, mw_accuracy, mw_embedding)
         must not hold it: such a feed is refused
errors   as mw_cross_entropy; MW_ERROR_SHAPE if the number of weights is not C; MW_ERROR_ARGUMENT for a weight, a
         smoothing or options that are not as above, or an ignored label of probabilities
vjp      dlogits = dy (softmax(logits) sum_c v - v) / sum of w, v = w[c] times the smoothed target
source   PyTorch CrossEntropyLoss; smoothing: Szegedy et al. 2016
""",
    "nll": """loss = mean over n of -log_probabilities[n, label n], the negative log-likelihood.
log_probabilities  [N, .., C]  F16 or F32, e.g. of mw_log_softmax(x, -1)
labels             [N, ..]     I32 in [0, C), checked when fed
return  scalar
errors  MW_ERROR_SHAPE, MW_ERROR_DTYPE
vjp     -dloss / N at the labels, else 0
source  PyTorch NLLLoss
""",
    "multi_margin": """loss = mean over n of sum over c != label n of max(0, margin - scores[n, label n] + scores[n, c]) / C.
scores  [N, .., C]  F16 or F32
labels  [N, ..]     I32 in [0, C), checked when fed
margin  positive and finite; PyTorch's default is 1
return  scalar
errors  MW_ERROR_SHAPE, MW_ERROR_DTYPE, MW_ERROR_ARGUMENT
vjp     +-dloss / (N C) for each class inside the margin, else 0
source  PyTorch MultiMarginLoss with p = 1; Weston and Watkins 1999
""",
    "accuracy": """The share of examples whose largest logit is that of their label; ties go to the lowest class, as in numpy.argmax.
logits  [N, .., C]  F16 or F32
labels  [N, ..] I32, or [N, .., C] one-hot (the first largest entry counts)
return  scalar in [0, 1]; no gradient
""",
    "accuracy_ignoring": """mw_accuracy of the labels that are not `ignore_index`, which go with an ignore_index of the loss; 0 if none counts.
Evaluation reports hits / labels that count over the whole data set. Labels are integers.
""",
    "mse": """loss = mean over all elements of (y - target)^2.
y, target  [N, ..]  same shape, both F16 or both F32
return     scalar
errors     MW_ERROR_SHAPE, MW_ERROR_DTYPE
vjp        dy = 2 dloss (y - target) / count, dtarget = -dy
""",
    "l1": """loss = mean over all elements of |y - target|; arguments and errors as mw_mse.
vjp        dy = dloss sign(y - target) / count, dtarget = -dy
source     PyTorch L1Loss
""",
    "huber": """loss = mean over all elements of d^2 / 2 where |d| <= delta, else delta (|d| - delta / 2), for d = y - target.
delta      positive and finite; PyTorch's default is 1
others     as mw_mse; also MW_ERROR_ARGUMENT
vjp        dy = dloss clip(y - target, -delta, delta) / count, dtarget = -dy
source     PyTorch HuberLoss; Huber 1964
""",
    "smooth_l1": """loss = mean over all elements of d^2 / (2 beta) where |d| < beta, else |d| - beta / 2, for d = y - target.
beta       finite, 0 or more; PyTorch's default is 1, and 0 means mw_l1. 1 / beta must fit the type of the device
others     as mw_mse; also MW_ERROR_ARGUMENT
vjp        dy = dloss clip((y - target) / beta, -1, 1) / count, dtarget = -dy
source     PyTorch SmoothL1Loss; Girshick 2015
""",
    "binary_cross_entropy": """loss = mean over all elements of -q target log sigmoid(logits) - (1 - target) log(1 - sigmoid(logits)).
logits, target   [N, ..]  same shape, both F16 or both F32; target in [0, 1]
positive_weight  q: broadcasts to logits, same dtype, >= 0; NULL = 1
return  scalar; stable for any finite logits: made of log(1 + e^-|x|)
errors  MW_ERROR_SHAPE, MW_ERROR_DTYPE
vjp     dlogits = dloss ((1 - target) sigmoid(logits) - q target sigmoid(-logits)) / count,
        dtarget = dloss (log sigmoid(-logits) - q log sigmoid(logits)) / count, -dloss logits / count if q = 1
source  PyTorch BCEWithLogitsLoss
""",
    "kl_divergence": """loss = sum over all elements of target (log target - log_probabilities) / N: the divergence of the target from
what is predicted, mean over the first axis only (PyTorch's "batchmean").
log_probabilities, target  [N, ..]  same shape, both F16 or both F32, e.g. mw_log_softmax(x, -1); 0 log 0 = 0, also
        where log_probabilities is -inf; a target below 0 counts as 0 log 0
return  scalar
errors  MW_ERROR_SHAPE, MW_ERROR_DTYPE
vjp     dlog_probabilities = -dloss target / N; dtarget = dloss (log target + 1 - log_probabilities) / N, 0 where
        the target is 0
source  PyTorch KLDivLoss(reduction = "batchmean")
""",
    "hinge": """loss = mean over all elements of max(0, 1 - target y).
y, target  [N, ..]  same shape, both F16 or both F32; target -1 or +1
return     scalar
errors     MW_ERROR_SHAPE, MW_ERROR_DTYPE
vjp        dy = -dloss target / count where target y < 1, else 0; dtarget = -dloss y / count there
source     Cortes and Vapnik 1995, the loss of support vector machines
""",
    "normalize": """y = x / max(|x|, epsilon), |x| the Euclidean length along `axis`.
x        [..]  F16 or F32, at least rank 1
axis     in [-rank, rank)
epsilon  finite and at least 2^-14, the smallest normal number of fp16: below it a device of fp16 would divide by 0
return   shape and dtype of x. Rows are divided by their largest element first, so that no square leaves the range
         of fp16
errors   MW_ERROR_ARGUMENT, MW_ERROR_DTYPE, MW_ERROR_SHAPE for an axis without elements
vjp      dx = (dy - y sum(dy y)) / |x|; dy / epsilon where |x| < epsilon
source   PyTorch F.normalize, whose epsilon is 1e-12
""",
    "cosine_embedding": """loss = mean over n of 1 - cos(a[n], b[n]) where target[n] > 0, else max(0, cos(a[n], b[n]) - margin).
a, b     [N, .., D]  same shape, both F16 or both F32; lengths below 2^-14 count as that
target   [N, ..]     dtype of a; 1 for pairs that belong together, -1 for others
margin   in [-1, 1]; PyTorch's default is 0
return   scalar
errors   MW_ERROR_SHAPE, MW_ERROR_DTYPE, MW_ERROR_ARGUMENT
vjp      of its operations; none for target
source   PyTorch CosineEmbeddingLoss
""",
    "triplet": """loss = mean over n of max(0, |anchor[n] - positive[n]| - |anchor[n] - negative[n]| + margin).
anchor, positive, negative  [N, .., D]  one shape, F16 or F32
margin   positive and finite; PyTorch's default is 1
return   scalar
errors   MW_ERROR_SHAPE, MW_ERROR_DTYPE, MW_ERROR_ARGUMENT
vjp      of its operations; two equal points pull nowhere
source   PyTorch TripletMarginLoss with p = 2, but for the 1e-6 that it adds to each difference
""",
    "info_nce": """loss = mean over n of -log softmax over m of cos(queries[n], keys[m]) / temperature, at m = n: each query finds its
key among those of the batch. For both directions take the mean of the losses of (a, b) and (b, a).
queries, keys  [N, D]  same shape, both F16 or both F32; lengths below 2^-14 count as that
temperature    in [0.001, 1000]; 0.07 is usual
return   scalar
errors   MW_ERROR_SHAPE, MW_ERROR_DTYPE, MW_ERROR_ARGUMENT
vjp      of its operations
source   van den Oord et al. 2018; Radford et al. 2021
""",
    "nt_xent": """loss = mean over the 2 N views of -log softmax over all other views of cos / temperature, at the other view of the
same example.
a, b     [N, D]  two views of each example; as mw_info_nce, with N of 1 or more
source   Chen et al. 2020 (SimCLR)
""",
    "ctc": """loss = mean over n of -log P(labels[n]) / max(1, label_lengths[n]), P the sum over all ways to spread the labels
over the steps: each step says one class or blank, and blanks and repetitions are dropped.
log_probabilities  [N, T, C]  F16 or F32, finite, of mw_log_softmax(x, -1); PyTorch has [T, N, C]
labels         [N, L]  I32 in [0, C), L >= 1, none of them blank; what lies beyond the length does not count, but is
               a class
input_lengths  [N]     I32 in [0, T], steps that count; NULL = all T
label_lengths  [N]     I32 in [0, L]; NULL = all L
blank          in [0, C); PyTorch's default is 0
return   scalar. An example whose labels do not fit into its steps counts 0 and has no gradient, as with PyTorch's
         zero_infinity. So does one that is less likely by e^-15000
         than the likeliest way to say anything
cost     the steps are unrolled: about 25 operations each, of [N, L] elements
errors   MW_ERROR_SHAPE, MW_ERROR_DTYPE, MW_ERROR_ARGUMENT
vjp      of its operations
source   Graves et al. 2006; PyTorch CTCLoss
""",
    "focal": """loss = mean over n of -(1 - p[n])^gamma log p[n], p[n] = softmax(logits)[n, label n]: cross-entropy in which
examples that are right already count less.
logits  [N, .., C]  F16 or F32
labels  [N, ..]     I32 in [0, C), checked when fed
gamma   finite, 0 (mw_cross_entropy) or at least 1: below 1 the gradient has no bound where p = 1. 2 is usual
return  scalar; 1 - p is the sum of the other classes' probabilities, so that it is right where p is close to 1
errors  MW_ERROR_SHAPE, MW_ERROR_DTYPE, MW_ERROR_ARGUMENT
vjp     dlogits = dy (gamma u^(gamma - 1) p c + u^gamma) (softmax(logits) - hot) / N, u = 1 - p, c = -log p
source  Lin et al. 2017, for many classes
""",
    "binary_focal": """loss = mean over all elements of -a t (1 - p)^gamma log p - (1 - a)(1 - t) p^gamma log(1 - p), p = sigmoid(logits),
for targets t of 0 or 1; in between as torchvision has it, with (1 - p) t + p (1 - t) in the power.
logits, target  [N, ..]  same shape, both F16 or both F32; target in [0, 1]
alpha   a in [0, 1], the weight of a yes, or -1 for no weights. torchvision's default is 0.25
gamma   as mw_focal; torchvision's default is 2
return  scalar, stable as mw_binary_cross_entropy
errors  MW_ERROR_SHAPE, MW_ERROR_DTYPE, MW_ERROR_ARGUMENT
vjp     of its operations
source  torchvision sigmoid_focal_loss; Lin et al. 2017
""",
    "dice": """loss = mean of 1 - (2 sum y target + smooth) / (sum y + sum target + smooth), each sum over `axes`: how little two
masks overlap.
y, target  [N, ..]  same shape, both F16 or both F32; in [0, 1]
axes       at least one, never the first: examples are compared one by one
smooth     finite and positive: keeps the quotient of two empty masks at 1. 1 is usual
return     scalar. Means are taken for sums, so that large masks fit in fp16
errors     MW_ERROR_SHAPE, MW_ERROR_DTYPE, MW_ERROR_ARGUMENT
vjp        of its operations
source     Milletari et al. 2016, without the squares
""",
    "poisson_nll": """loss = mean over all elements of e^log_mean - target log_mean: counts, of which the logarithm of the mean is
predicted.
log_mean, target  [N, ..]  same shape, both F16 or both F32; target >= 0. log_mean is at most 11 in fp16
return  scalar
errors  MW_ERROR_SHAPE, MW_ERROR_DTYPE
vjp     dlog_mean = dloss (e^log_mean - target) / count, dtarget = -dloss log_mean / count
source  PyTorch PoissonNLLLoss(log_input = True, full = False)
""",
    "pinball": """loss = mean over all elements of max(q d, (q - 1) d), d = target - y: its minimum is the quantile q of the target.
y, target  [N, ..]  same shape, both F16 or both F32
q          in (0, 1); 0.5 is half of mw_l1
return     scalar
errors     MW_ERROR_SHAPE, MW_ERROR_DTYPE, MW_ERROR_ARGUMENT
vjp        dy = -dloss q / count where target > y, dloss (1 - q) / count where target < y, 0 where they are equal
source     Koenker and Bassett 1978; scikit-learn's mean_pinball_loss
""",
    "relu": """y = max(x, 0).
x       [..]  F16 or F32
return  [..]  dtype of x
errors  MW_ERROR_DTYPE
vjp     dx = dy where x > 0, else 0
source  MIL relu
""",
    "sigmoid": """y = 1 / (1 + e^-x); arguments and errors as mw_relu.
vjp     dx = dy * y * (1 - y)
source  MIL sigmoid
""",
    "silu": """y = x * sigmoid(x); arguments and errors as mw_relu.
vjp     dx = dy * s * (1 + x * (1 - s)), s = sigmoid(x)
source  MIL silu
""",
    "gelu": """y = gelu(x) in the form that `mode` names; arguments as mw_relu.
errors  MW_ERROR_DTYPE, MW_ERROR_ARGUMENT for another mode
vjp     dx = dy * the derivative of that form
source  MIL gelu
""",
    "relu6": """y = min(max(x, 0), 6); arguments and errors as mw_relu.
vjp     dx = dy where 0 < x < 6, else 0 (PyTorch's relu6)
source  MIL relu6
""",
    "leaky_relu": """y = x where x >= 0, else alpha * x; arguments and errors as mw_relu.
alpha   slope of the negative side; PyTorch's default is 0.01
vjp     dx = dy where x > 0, else alpha * dy (PyTorch's leaky_relu)
source  MIL leaky_relu
""",
    "prelu": """y = x where x >= 0, else alpha[c] * x, with one slope per channel c.
x       [N, C, ..]  rank 3 to 5, F16 or F32
alpha   [C]  dtype of x. A constant gives MIL's prelu, which wants equal slopes unless x has rank 4; a parameter or
        another computed tensor gives the same value of operations that take it, select and mul
return  [N, C, ..]  dtype of x
errors  MW_ERROR_SHAPE if the ranks or C do not fit, MW_ERROR_ARGUMENT for unequal constant slopes with rank 3 or 5
vjp     dx = dy where x > 0, else alpha * dy; dalpha = sum of x * dy over x <= 0 of the channel (PyTorch's prelu)
source  MIL prelu
""",
    "clamped_relu": """y = min(x, beta) where x >= 0, else min(alpha * x, beta); arguments and errors as mw_relu.
alpha   slope of the negative side
beta    upper bound
vjp     dx = dy * (1 where x > 0, else alpha) where leaky_relu(x) < beta, else 0
source  MIL clamped_relu
""",
    "thresholded_relu": """y = x where x >= alpha, else 0; arguments and errors as mw_relu.
alpha   the smallest value that passes (PyTorch's threshold starts above it)
vjp     dx = dy where x >= alpha, else 0
source  MIL thresholded_relu
""",
    "elu": """y = x where x > 0, else alpha * (e^x - 1); arguments and errors as mw_relu.
alpha   the negative limit is -alpha; PyTorch's default is 1
vjp     dx = dy where x > 0, else dy * alpha * e^x (PyTorch's elu)
source  MIL elu
""",
    "softplus": """y = ln(1 + e^x); arguments and errors as mw_relu. Exact to the dtype for every x.
vjp     dx = dy * sigmoid(x)
source  MIL softplus
""",
    "softplus_parametric": """y = alpha[c] * ln(1 + e^(beta[c] * x)), with one pair of numbers per channel c.
x       [N, C, ..]  rank 3 to 5, F16 or F32
alpha   [C]  dtype of x; where alpha or beta is no constant, the same value comes of mul and softplus
beta    [C]  dtype of x
return  [N, C, ..]  dtype of x
errors  MW_ERROR_SHAPE if the ranks or C do not fit
vjp     dx = dy * alpha * beta * s, s = sigmoid(beta * x); dalpha = sum of dy * softplus(beta * x) and
        dbeta = sum of dy * alpha * x * s over the channel
source  MIL softplus_parametric
""",
    "softsign": """y = x / (1 + |x|); arguments and errors as mw_relu.
vjp     dx = dy / (1 + |x|)^2
source  MIL softsign
""",
    "scaled_tanh": """y = alpha * tanh(beta * x); arguments and errors as mw_relu.
vjp     dx = dy * alpha * beta * (1 - tanh(beta * x)^2)
source  MIL scaled_tanh
""",
    "sigmoid_hard": """y = min(max(alpha * x + beta, 0), 1); arguments and errors as mw_relu.
alpha   slope; PyTorch's hardsigmoid is 1/6, Keras' 0.2
beta    value at x = 0, 0.5 in both
vjp     dx = dy * alpha where 0 < alpha * x + beta < 1, else 0 (PyTorch's hardsigmoid)
source  MIL sigmoid_hard
""",
    "linear_activation": """y = alpha * x + beta; arguments and errors as mw_relu.
vjp     dx = dy * alpha
source  MIL linear_activation
""",
    "scaled_dot_product_attention": """y = softmax(query key^T / sqrt(E) + mask) value, the softmax over the S keys.
query   [B, .., L, E], rank 3 or more  F16 or F32
key     [B, .., S, E]                  dtype of query
value   [B, .., S, V]                  dtype of query
mask    broadcasts to [B, .., L, S]; NULL = none  dtype of query: added to the scores; BOOL: false stands for
        -infinity. A row whose scores are all -infinity gives NaN, as in PyTorch 1.13 (0 / 0). Where all rows of a
        query have one row of a BOOL mask, as over a cache, the engine does not read keys and values before the
        first and after the last that it shows: they take no time, and what stands there does not matter
return  [B, .., L, V]
errors  MW_ERROR_SHAPE if ranks or batch extents differ (they do not broadcast), E or S differ or are 0, or the mask
        does not broadcast; MW_ERROR_DTYPE
vjp     with P = softmax(query key^T / sqrt(E) + mask) and D = P (dy value^T - sum(dy y)):
        dvalue = P^T dy, dquery = D key / sqrt(E), dkey = D^T query / sqrt(E), dmask = D summed over what was
        broadcast (a BOOL mask has none)
source  MIL scaled_dot_product_attention, which is there from ios18; in graphs of older opsets this is mul, matmul,
        add or select, softmax and matmul. The maximum of a row is subtracted first
""",
    "multi_head_attention_layer": """mw_scaled_dot_product_attention over `heads` parts of the last extent, between products with new parameters:
PyTorch's MultiheadAttention with batch_first.
query   [B, L, E], E known  F16 or F32
key     [B, S, E]; NULL = the query
value   [B, S, E]; NULL = the key
heads   must divide E
mask    broadcasts to [B, heads, L, S], as above; NULL = none. Of a BOOL mask, true takes part; PyTorch's module
        (not its scaled_dot_product_attention) has that the other way round
name    the parameters are `name`.in_proj_weight [3 E, E], the rows for query, key and value one below the other,
        Xavier uniform, `name`.in_proj_bias [3 E] and `name`.out_proj.bias [E], zeros, and
        `name`.out_proj.weight [E, E], uniform in +-1/sqrt(E); dtype of query
return  [B, L, E]
errors  MW_ERROR_SHAPE, MW_ERROR_DTYPE, MW_ERROR_ARGUMENT for heads that do not divide E or a name that is empty
        or taken
vjp     that of its operations
source  PyTorch MultiheadAttention, without dropout, bias_kv and zero_attn
""",
    "equal": """r = (x == y).
x, y    broadcastable, one type: F16, F32 or I32
return  the broadcast shape, BOOL
errors  MW_ERROR_SHAPE if the shapes do not broadcast, MW_ERROR_DTYPE if the types differ
vjp     none: the result is BOOL
source  MIL equal
""",
    "not_equal": """r = (x != y); the rest as mw_equal.
""",
    "less": """r = (x < y); the rest as mw_equal.
""",
    "less_equal": """r = (x <= y); the rest as mw_equal.
""",
    "greater": """r = (x > y); the rest as mw_equal.
""",
    "greater_equal": """r = (x >= y); the rest as mw_equal.
""",
    "logical_and": """r = x and y.
x, y    broadcastable, BOOL
return  the broadcast shape, BOOL
errors  MW_ERROR_SHAPE if the shapes do not broadcast, MW_ERROR_DTYPE
vjp     none: truth has no gradient
source  MIL logical_and
""",
    "logical_or": """r = x or y; arguments and errors as mw_logical_and.
vjp     none
source  MIL logical_or
""",
    "logical_xor": """r = x differs from y; arguments and errors as mw_logical_and.
vjp     none
source  MIL logical_xor
""",
    "logical_not": """r = not x.
x       [..]  BOOL
return  [..]  BOOL
errors  MW_ERROR_DTYPE
vjp     none
source  MIL logical_not
""",
    "select": """r = a where cond is true, else b.
cond    BOOL
a, b    any one type
return  the broadcast shape of all three, dtype of a
errors  MW_ERROR_SHAPE if the shapes do not broadcast, MW_ERROR_DTYPE
vjp     da = select(cond, dr, 0), db = select(cond, 0, dr)
source  MIL select
""",
    "make_list": """A list of `length` zeros of shape `element`.
dtype    of the elements
element  shape of one, rank at most 7
length   0 or more
dynamic  writing at an index beyond the length makes it longer
errors   MW_ERROR_DTYPE, MW_ERROR_SHAPE, MW_ERROR_ARGUMENT
vjp      none; mw_graph_flatten
source   MIL make_list
""",
    "list_write": """The list with value at index.
index   I32, one element
value   of the type of its elements
errors  MW_ERROR_SHAPE, MW_ERROR_DTYPE, MW_ERROR_ARGUMENT for a constant below 0
vjp     none; mw_graph_flatten
source  MIL list_write
""",
    "list_read": """The element at index.
index   I32, one element
return  of the type of its elements
errors  MW_ERROR_SHAPE, MW_ERROR_DTYPE, MW_ERROR_ARGUMENT for a constant below 0
vjp     none; mw_graph_flatten
source  MIL list_read
""",
    "list_gather": """The elements at `indices`, stacked.
indices  [k]  I32
return   [k, ..]  of the type of its elements
errors   MW_ERROR_SHAPE, MW_ERROR_DTYPE, MW_ERROR_ARGUMENT for a constant below 0
vjp      none; mw_graph_flatten
source   MIL list_gather
""",
    "list_scatter": """The list with value[i] at indices[i]; of equal indices the last counts.
indices  [k]  I32
value    [k, ..]  of the type of its elements
errors   MW_ERROR_SHAPE, MW_ERROR_DTYPE, MW_ERROR_ARGUMENT for a constant below 0
vjp      none; mw_graph_flatten
source   MIL list_scatter
""",
    "list_length": """The length of a list.
return  I32, rank 0
errors  MW_ERROR_DTYPE
vjp     none: an integer
source  MIL list_length
""",
    "conv": """y[n, o, p] = bias[o] + sum over c, k of x[n, c, p s + k d - b] weight[o, c, k]: cross-correlation, the kernel
is not flipped; x is 0 outside, and channel o sees the C / G channels of its group.
x        [N, C, *S]      F16 or F32
weight   [O, C / G, *K]  dtype of x; from MW_IOS17 on also the other of F16 and F32, and bias with it: sums are of
         fp32 then, and y is rounded once
bias     [O]             dtype of x; NULL = none
options  NULL = mw_conv_defaults()
return   [N, O, floor((S + b + a - ((K - 1) d + 1)) / s) + 1 for each axis]; sums are kept in fp32, rounded once
errors   MW_ERROR_SHAPE for ranks, channels or groups that do not fit or a kernel larger than the padded x;
         MW_ERROR_ARGUMENT for a stride, dilation or group below 1 or a negative pad; MW_ERROR_DTYPE
vjp      dx = conv_transpose(dy, weight), dweight = conv of x with dy over the batch, dbias = sum of dy over all
         axes but the channels
source   MIL conv. Its weight may be computed only without dilation: one that is dilated is spread with zeros.
         Before ios17 its bias must be a constant: another is added
""",
    "conv_transpose": """The transpose of the linear map mw_conv, with the same numbers: y[n, o, p s + k d - b] = bias[o] + sum of x[n,
c, p] weight[c, o, k].
x        [N, C, *S]      F16 or F32
weight   [C, O / G, *K]  dtype of x, or as for mw_conv
bias     [O]             dtype of x; NULL = none
options  NULL = mw_conv_defaults(). MW_PAD_SAME gives s S; MW_PAD_CUSTOM crops `pad` from the result. With
         output_shape, or MW_PAD_SAME, the crop total is s (S - 1) + (K - 1) d + 1 - out, floor(total / 2) of it
         before; a result that is longer than that ends in at most s - 1 positions that hold the bias alone
return   [N, O, s (S - 1) + (K - 1) d + 1 - b - a for each axis]
errors   as mw_conv; MW_ERROR_SHAPE if nothing is left of the result or output_shape does not fit
vjp      dx = conv(dy, weight), dweight = conv of dy with x over the batch, dbias as mw_conv
source   MIL conv_transpose, whose weight must be a constant: another one gives the gradient form of conv. The
         crop of output_shape is that of ONNX ConvTranspose, MW_PAD_SAME that of TensorFlow
""",
    "conv_layer": """mw_conv with new parameters: PyTorch's Conv1d, Conv2d and Conv3d.
x         [N, C, *S]  F16 or F32; C must be known
channels  O > 0
kernel    *K, one extent for each spatial axis of x
name      the parameters are `name`.weight [O, C / G, *K] and, if options say so, `name`.bias [O], both uniform in
          +-1/sqrt(C / G * product of *K), dtype of x
options   NULL = mw_conv_defaults()
return    as mw_conv
errors    as mw_conv; MW_ERROR_ARGUMENT for channels < 1 or a name that is taken
vjp       as mw_conv
""",
    "conv_transpose_layer": """mw_conv_transpose with new parameters: PyTorch's ConvTranspose1d, 2d and 3d.
name      the parameters are `name`.weight [C, O / G, *K] and `name`.bias [O], both uniform in
          +-1/sqrt(O / G * product of *K), dtype of x; the rest as mw_conv_layer
""",
    "add": """r = x + y.
x, y    broadcastable, F16, F32 or I32
return  the broadcast shape, dtype of x
errors  MW_ERROR_SHAPE if the shapes do not broadcast, MW_ERROR_DTYPE if the types differ or have no arithmetic
vjp     dx = dr, dy = dr
source  MIL add
""",
    "sub": """r = x - y; arguments and errors as mw_add.
vjp     dx = dr, dy = -dr
source  MIL sub
""",
    "mul": """r = x * y; arguments and errors as mw_add.
vjp     dx = dr * y, dy = dr * x
source  MIL mul
""",
    "real_div": """r = x / y; arguments and errors as mw_add. Integers are divided toward zero (in coremltools' test
of both integers 5 / 2 is 2), on the ANE too, where they are fp16 numbers.
vjp     dx = dr / y, dy = -dr * r / y
source  MIL real_div
""",
    "floor_div": """r = floor(x / y), toward minus infinity; arguments and errors as mw_add.
vjp     dx = dy = 0
source  MIL floor_div
""",
    "mod": """r = x - floor(x / y) * y, which has the sign of y (PyTorch's remainder); arguments and errors as mw_add. A float x
modulo 0 is NaN, an integral one is x.
vjp     dx = dr, dy = -dr * floor(x / y)
source  MIL mod
""",
    "maximum": """r = the larger of x and y, NaN if either is; arguments and errors as mw_add.
vjp     dr goes to the larger operand; equal ones share it half and half
source  MIL maximum
""",
    "minimum": """r = the smaller of x and y, NaN if either is; arguments and errors as mw_add.
vjp     dr goes to the smaller operand; equal ones share it half and half
source  MIL minimum
""",
    "pow": """r = x^y; a negative x is defined for integral y only; arguments and errors as mw_add.
vjp     dx = dr * y * x^(y - 1), 0 where y is 0; dy = dr * r * ln(x), 0 where x <= 0
source  MIL pow
""",
    "add_scalar": """r = x + value: mw_add with a scalar constant of x's dtype.
x       [..]  F16, F32 or I32
value   rounded once to the dtype of x
return  [..]  dtype of x
errors  MW_ERROR_NUMERIC if value does not fit the dtype
vjp     dx = dr
""",
    "mul_scalar": """r = x * value: mw_mul with a scalar constant of x's dtype; arguments and errors as mw_add_scalar.
vjp     dx = dr * value
""",
    "neg": """r = -x: mw_mul_scalar(x, -1), as MIL has no negation.
vjp     dx = -dr
""",
    "abs": """r = |x|.
x       [..]  F16, F32 or I32
return  [..]  dtype of x
errors  MW_ERROR_DTYPE
vjp     dx = dr * sign(x)
source  MIL abs
""",
    "sign": """r = -1, 0 or 1 by the sign of x; arguments and errors as mw_abs.
vjp     dx = 0
source  MIL sign
""",
    "square": """r = x * x; arguments and errors as mw_abs.
vjp     dx = 2 * dr * x
source  MIL square
""",
    "sqrt": """r = sqrt(x); NaN for negative x.
x       [..]  F16 or F32
return  [..]  dtype of x
errors  MW_ERROR_DTYPE
vjp     dx = dr / (2 * r)
source  MIL sqrt
""",
    "rsqrt": """r = 1 / sqrt(x + epsilon).
x        [..]  F16 or F32
epsilon  finite and >= 0; rounded to the dtype of x: 1e-12 is 0 in fp16. MIL's own default is 1e-12
return   [..]  dtype of x
errors   MW_ERROR_DTYPE; MW_ERROR_ARGUMENT for another epsilon
vjp      dx = -dr * r^3 / 2
source   MIL rsqrt
""",
    "inverse": """r = 1 / (x + epsilon); arguments and errors as mw_rsqrt. MIL's own default epsilon is a large 1e-4.
vjp      dx = -dr * r^2
source   MIL inverse
""",
    "log": """r = ln(x + epsilon); arguments and errors as mw_rsqrt. MIL's own default epsilon is 1e-45, which is 0 in fp16.
vjp      dx = dr / (x + epsilon)
source   MIL log
""",
    "exp": """r = e^x; arguments and errors as mw_sqrt.
vjp     dx = dr * r
source  MIL exp
""",
    "erf": """r = the error function of x; arguments and errors as mw_sqrt.
vjp     dx = dr * 2 / sqrt(pi) * e^(-x^2)
source  MIL erf
""",
    "tanh": """r = the hyperbolic tangent of x; arguments and errors as mw_sqrt.
vjp     dx = dr * (1 - r^2)
source  MIL tanh
""",
    "exp2": """r = 2^x; arguments and errors as mw_abs. An integer x below 0 gives 0, and above 30 the result wraps around.
vjp     dx = dr * r * ln(2)
source  MIL exp2
""",
    "floor": """r = the largest integer not above x; arguments and errors as mw_sqrt.
vjp     dx = 0
source  MIL floor
""",
    "ceil": """r = the smallest integer not below x; arguments and errors as mw_sqrt.
vjp     dx = 0
source  MIL ceil
""",
    "round": """r = the integer nearest to x, of two equally near ones the even one; arguments and errors as mw_sqrt.
vjp     dx = 0
source  MIL round
""",
    "sin": """r = the sine of x in radians; arguments and errors as mw_sqrt.
vjp     dx = dr * cos(x)
source  MIL sin
""",
    "cos": """r = the cosine of x in radians; arguments and errors as mw_sqrt.
vjp     dx = -dr * sin(x)
source  MIL cos
""",
    "tan": """r = the tangent of x in radians; arguments and errors as mw_sqrt.
vjp     dx = dr * (1 + r^2)
source  MIL tan
""",
    "asin": """r = the angle in [-pi/2, pi/2] whose sine is x; arguments and errors as mw_sqrt. NaN outside
[-1, 1].
vjp     dx = dr / sqrt(1 - x^2)
source  MIL asin
""",
    "acos": """r = the angle in [0, pi] whose cosine is x; arguments and errors as mw_sqrt. NaN outside [-1, 1].
vjp     dx = -dr / sqrt(1 - x^2)
source  MIL acos
""",
    "atan": """r = the angle in (-pi/2, pi/2) whose tangent is x; arguments and errors as mw_sqrt.
vjp     dx = dr / (1 + x^2)
source  MIL atan
""",
    "sinh": """r = the hyperbolic sine of x; arguments and errors as mw_sqrt.
vjp     dx = dr * cosh(x)
source  MIL sinh
""",
    "cosh": """r = the hyperbolic cosine of x; arguments and errors as mw_sqrt.
vjp     dx = dr * sinh(x)
source  MIL cosh
""",
    "atanh": """r = the number whose hyperbolic tangent is x; arguments and errors as mw_sqrt. NaN outside [-1, 1].
vjp     dx = dr / (1 - x^2)
source  MIL atanh
""",
    "threshold": """r = max(x, alpha).
x       [..]  F16, F32 or I32
alpha   lower bound, rounded to the dtype of x; integral for I32
return  [..]  dtype of x
errors  MW_ERROR_DTYPE, MW_ERROR_NUMERIC if alpha does not fit the dtype
vjp     dx = dr where x >= alpha, else 0 (PyTorch's clamp)
source  MIL threshold
""",
    "clip": """r = min(max(x, alpha), beta).
x       [..]  F16 or F32
alpha   lower bound, may be -inf
beta    upper bound, > alpha, may be inf
return  [..]  dtype of x
errors  MW_ERROR_ARGUMENT unless alpha < beta, MW_ERROR_DTYPE
vjp     dx = dr where alpha <= x <= beta, else 0
source  MIL clip (its ios17 form asks for alpha < beta)
""",
    "cast": """r = x in another element type.
x       [..]  F16, F32, I32, BOOL; from MW_IOS17 on also I8, U8, I16, U16
dtype   one of the same types; fp32 to fp16 rounds to nearest even, float to integer truncates toward zero,
        anything to BOOL is x != 0
return  [..]  dtype
errors  MW_ERROR_DTYPE for other types
vjp     dx = dr cast back, between float types
source  MIL cast
""",
    "one_hot": """y = `on` at the position that each index names along a new axis, `off` elsewhere.
indices  [..]  an integer type; outside [0, size) all are off
size     extent of the new axis, >= 1
axis     of the result, in [-rank - 1, rank]
dtype    of the result: F16, F32, I32 or BOOL
errors   MW_ERROR_ARGUMENT, MW_ERROR_DTYPE
vjp      none: on and off are constants
source   MIL one_hot
""",
    "gather": """y = x[.., indices, ..]: slices of x along axis.
x        [A.., n, B..]  any type
indices  [C..]          an integer type, in [0, n); up to MW_IOS16 also [-n, 0), counting from the end
axis     in [-rank, rank)
return   [A.., C.., B..]  dtype of x; a scalar index leaves the axis out
errors   MW_ERROR_ARGUMENT, MW_ERROR_SHAPE, MW_ERROR_DTYPE
vjp      dx = dy added up at the indices
source   MIL gather
""",
    "gather_along_axis": """y[a, j, b] = x[a, indices[a, j, b], b]: one element per index, as numpy.take_along_axis.
x        [A.., n, B..]  any type
indices  [A.., J, B..]  an integer type; the rank of x and its extents except along axis
axis     in [-rank, rank)
return   [A.., J, B..]  dtype of x
errors   MW_ERROR_ARGUMENT, MW_ERROR_SHAPE, MW_ERROR_DTYPE
vjp      dx = scatter_along_axis(0, indices, dy, axis, add)
source   MIL gather_along_axis
""",
    "gather_nd": """y[a, c, b] = x[a, indices[a, c, 0], .., indices[a, c, K - 1], b]: slices of x chosen by coordinates.
x           [A.., n1, .., nK, B..]  any type
indices     [A.., C.., K]           an integer type; 1 <= K
batch_dims  how many axes A has, >= 0; other than 0 needs MW_IOS16
return      [A.., C.., B..]         dtype of x
errors      MW_ERROR_ARGUMENT, MW_ERROR_SHAPE, MW_ERROR_DTYPE
vjp         with batch_dims = 0: dx = scatter_nd(0, indices, dy, add); else the same for each index of A
source      MIL gather_nd, which is TensorFlow's
""",
    "scatter": """y = data, with updates[a, j, b] combined into y[a, indices[j], b].
data     [A.., n, B..]  F16, F32 or I32
indices  [J]            an integer type
updates  [A.., J, B..]  dtype of data
axis     in [-rank, rank)
mode     how they are combined. Updates of one place are taken in the order of j, whatever the number of threads:
         update keeps the last (MIL leaves it open), the others accumulate, in fp32, rounded once
return   shape and dtype of data
errors   MW_ERROR_ARGUMENT, MW_ERROR_SHAPE, MW_ERROR_DTYPE
vjp      With g = gather(dy, indices, axis):
         add     ddata = dy, dupdates = g
         sub     ddata = dy, dupdates = -g
         update  ddata = dy, 0 at the indices; dupdates = g for the update that was kept, else 0
         mul     ddata = scatter(dy, indices, updates, mul), dupdates = gather(dy times the other factors)
         div     ddata = scatter(dy, indices, updates, div), dupdates = -gather(dy y) / updates
         max     those that equal y share dy equally; min likewise
         The second derivative of mul holds where no update is 0
source   MIL scatter, whose default is "add" in coremltools, though its text says update
""",
    "scatter_along_axis": """y = data, with updates[a, j, b] combined into y[a, indices[a, j, b], b]; else as mw_scatter.
data     [A.., n, B..]  F16, F32 or I32
indices  [A.., J, B..]  an integer type; the rank of data and its extents except along axis
updates  [A.., J, B..]  dtype of data
vjp      as mw_scatter, with gather_along_axis
source   MIL scatter_along_axis
""",
    "scatter_nd": """y = data, with updates[c, b] combined into y[indices[c, 0], .., indices[c, K - 1], b]; else as mw_scatter.
data     [n1, .., nK, B..]  F16, F32 or I32
indices  [C.., K]           an integer type; 1 <= K
updates  [C.., B..]         dtype of data
vjp      as mw_scatter, with gather_nd
source   MIL scatter_nd, which is TensorFlow's tensor_scatter_nd_update and its kin
""",
    "non_zero": """y = coordinates of the elements that are not 0 (NaN is not), in row-major order.
x       [..]  of rank R >= 1, any type
return  [N, R]  I32. If x is a constant, N is known. A program that was read may declare N: the result is then the
        first N rows, with rows of 0 at the end if there are fewer. Otherwise N is unknown, and the engine refuses
        to compile the program
errors  MW_ERROR_SHAPE, MW_ERROR_DTYPE
vjp     none: integers
source  MIL non_zero
""",
    "embedding": """y = weight[indices, :] with a new parameter: PyTorch's Embedding.
indices  [..]  an integer type, in [0, count). If it is an input, what is fed is checked. See "On the ANE" above
count    how many rows, > 0
dim      extent of a row, > 0
name     the parameter is `name`.weight [count, dim], F32, normal(0, 1)
return   [.., dim]  F32
errors   MW_ERROR_ARGUMENT, MW_ERROR_SHAPE, MW_ERROR_DTYPE
vjp      dweight = dy added up at the indices
source   PyTorch Embedding
""",
    "upsample_nearest_neighbor": """y[.., i, j] = x[.., floor(i * H / height), floor(j * W / width)] for y of extents height and width.
x             [.., C, H, W]  rank at least 3, F16 or F32
scale_height  positive; an integral factor is written as an integer
scale_width   positive
return        [.., C, floor(H * scale_height), floor(W * scale_width)]  dtype of x. The factors say no more than
              these extents (PyTorch's recompute_scale_factor): 3 elements by 1.12 are the same 3
errors        MW_ERROR_SHAPE if the rank is below 3, an axis is empty or becomes so; MW_ERROR_ARGUMENT for a factor
              that is not positive; MW_ERROR_DTYPE
vjp           dx = sum of dy over the copies
source        MIL upsample_nearest_neighbor
""",
    "upsample_bilinear": """y = x resized linearly by a factor; arguments, result and errors as mw_upsample_nearest_neighbor.
align_corners  true: the positions of MW_SAMPLING_STRICT_ALIGN_CORNERS; false: of MW_SAMPLING_UNALIGN_CORNERS with
               the ratio of the extents (PyTorch takes the factor itself, which is the same for integral factors).
               MIL's ios16 form with half_pixel_centers = false as well takes those of MW_SAMPLING_DEFAULT
vjp            dx = dy weighted as x was
source         MIL upsample_bilinear
""",
    "resize_nearest_neighbor": """y[.., i, j] = x[.., floor(i * H / height), floor(j * W / width)] (PyTorch's "nearest", computed exactly).
x       [.., C, H, W]  rank at least 3, F16 or F32
height  at least 1
width   at least 1
return  [.., C, height, width]  dtype of x
errors  MW_ERROR_SHAPE if the rank is below 3 or an axis is empty; MW_ERROR_ARGUMENT for a size below 1;
        MW_ERROR_DTYPE
vjp     dx = sum of dy over the copies
source  MIL resize_nearest_neighbor, which does not say which element is near
""",
    "resize_bilinear": """y = x resized linearly; arguments, result and errors as mw_resize_nearest_neighbor.
sampling  MW_ERROR_ARGUMENT for another value
vjp       dx = dy weighted as x was
source    MIL resize_bilinear
""",
    "resize": """y = x resized linearly or to the nearest element; needs MW_IOS17. x may have any rank from 2 on. x may also be I32:
the fraction of a result is then dropped. An extent of 0 keeps the extent of x. Everything else is as for
mw_resize_bilinear. With mw_op, resized_dims = 1 resizes only the last axis; 3 and more are refused.
vjp     dx = dy weighted as x was
source  MIL resize
""",
    "crop": """y = x without `top` and `bottom` rows, `left` and `right` columns.
x       [N, C, H, W]  F16 or F32
top .. right  at least 0; something must be left
return  [N, C, H - top - bottom, W - left - right]  dtype of x
errors  MW_ERROR_SHAPE if the rank is not 4 or nothing is left; MW_ERROR_ARGUMENT for a negative number;
        MW_ERROR_DTYPE
vjp     dx = dy with a border of zeros
source  MIL crop
""",
    "matmul": """r = x y, a matrix product over the last two axes; the axes before them broadcast.
x       [.., M, K], or [.., K, M] with MW_TRANSPOSE_X; rank 1 stands for [1, K]  F16, F32 or I32
y       [.., K, N], or [.., N, K] with MW_TRANSPOSE_Y; rank 1 stands for [K, 1]  dtype of x; from MW_IOS17 on a
        constant may have another, and the result has that of the other operand
return  [.., M, N]; the axis that rank 1 added is left out again; sums are kept in fp32 and rounded once
errors  MW_ERROR_SHAPE if the inner extents differ, the batch axes do not broadcast, a rank-1 operand is to be
        transposed, or an operand is a scalar; MW_ERROR_DTYPE; MW_ERROR_ARGUMENT for other transposes
vjp     dx = dr y^T, dy = x^T dr
source  MIL matmul, which follows numpy.matmul
""",
    "einsum": """r = a b, a sum over the axis that both share and the result lacks, in one of MIL's two equations.
a         [n, c, h, w], or [c, h, w]  F16, F32 or I32
b         [n, w, h, u], or [w, h, u]  dtype of a
equation  "nchw,nwhu->nchu" or "chw,whr->chr", in any letters; spaces are allowed
return    [n, c, h, u], or [c, h, u]: r[n, c, h, u] = sum over w of a[n, c, h, w] b[n, w, h, u]; n and h broadcast.
          Sums are kept in fp32 and rounded once
errors    MW_ERROR_ARGUMENT for another equation, MW_ERROR_SHAPE, MW_ERROR_DTYPE
vjp       da[n, c, h, w] = sum over u of dr[n, c, h, u] b[n, w, h, u],
          db[n, w, h, u] = sum over c of a[n, c, h, w] dr[n, c, h, u]
source    MIL einsum. Any other equation: mw_contract
""",
    "linear": """r = x weight^T + bias.
x       [.., I]  F16, F32 or I32
weight  [O, I]   dtype of x
bias    [O]      dtype of x; NULL = none
return  [.., O]
errors  MW_ERROR_SHAPE, MW_ERROR_DTYPE
vjp     dx = dr weight, dweight = dr^T x, dbias = sum of dr over all axes but the last
source  MIL linear, whose weight and bias must be constants: with others this is matmul and add
""",
    "dense": """r = x weight^T + bias with new parameters: PyTorch's Linear.
x       [.., I]  F16 or F32; I must be known
units   O > 0
name    the parameters are `name`.weight [O, I] and `name`.bias [O], both uniform in +-1/sqrt(I), dtype of x
return  [.., O]
errors  MW_ERROR_SHAPE, MW_ERROR_DTYPE, MW_ERROR_ARGUMENT for units < 1 or a name that is taken
vjp     as mw_linear
""",
    "softmax": """y = softmax(x) along axis.
x       [.., n, ..]  F16 or F32
axis    in [-rank, rank); negative counts from the end
return  [.., n, ..]  dtype of x
errors  MW_ERROR_ARGUMENT if axis is out of range, MW_ERROR_DTYPE
vjp     dx = y * (dy - sum(dy * y, axis))
source  MIL softmax; the maximum is subtracted first
""",
    "log_softmax": """y = log softmax(x) along axis, as z - log sum e^z with z = x - max(x).
x       [.., n, ..]  F16 or F32
axis    as mw_softmax
return  [.., n, ..]  dtype of x. The relative error is at most 2^-20 in F32 and 2^-8 in F16, also where y is near 0
        (for the right class of a confident prediction). The gradient of one element has the same precision, except
        where e^z is below the smallest number of the type
errors  as mw_softmax
vjp     dx = dy - softmax(x) sum(dy, axis)
source  PyTorch LogSoftmax; a composite of reduce_max, exp, two sums and a logarithm
""",
    "layer_norm": """y = (x - mean(x)) / sqrt(var(x) + epsilon) * gamma + beta, with mean and var over the axes jointly.
x        [..]  F16 or F32
axes     in [-rank, rank), each once; MW_ALL_AXES = every axis
gamma    extents of those axes in ascending order  F16 or F32; NULL = none
beta     as gamma
epsilon  finite and >= 0, rounded to the dtype of x; another is MW_ERROR_ARGUMENT. MIL's own default is 1e-5
return   [..]  dtype of x
errors   MW_ERROR_ARGUMENT for an axis out of range or repeated, MW_ERROR_SHAPE if gamma or beta does not fit,
         MW_ERROR_DTYPE
vjp      with n = (x - mean(x)) r, r = (var(x) + epsilon)^-1/2 and g = dy gamma:
         dx = r (g - mean(g) - n mean(g n)), dgamma = sum of dy n, dbeta = sum of dy
source   MIL layer_norm, whose gamma and beta must be constants: with others this is layer_norm, mul and add. The
         mean is taken out before the squares are summed
""",
    "instance_norm": """y = (x - mean(x)) / sqrt(var(x) + epsilon) * gamma + beta, with mean and var over the positions of one channel
of one example.
x        [N, C, L] or [N, C, H, W]  F16 or F32
gamma    [C]  F16 or F32; NULL = none
beta     [C]  as gamma
epsilon  as mw_layer_norm
return   shape and dtype of x
errors   MW_ERROR_SHAPE for another rank or vectors that do not fit, MW_ERROR_DTYPE
vjp      as mw_layer_norm
source   MIL instance_norm; expanded like mw_layer_norm
""",
    "group_norm": """y = (x - mean(x)) / sqrt(var(x) + epsilon) * gamma + beta, with mean and var over the channels of one group and
their positions.
x        [N, C, ..]  F16 or F32; every extent must be known
groups   > 0; divides C. Group i has channels i * C / groups to (i + 1) * C / groups - 1
gamma    [C]  F16 or F32; NULL = none
beta     [C]  as gamma
epsilon  as mw_layer_norm
return   shape and dtype of x
errors   MW_ERROR_ARGUMENT if groups does not divide C, MW_ERROR_SHAPE
vjp      as mw_layer_norm
source   PyTorch GroupNorm; layer_norm over a reshaped x
""",
    "rms_norm": """y = x / sqrt(mean(x^2) + epsilon) * weight, with the mean over the axes jointly.
x        [..]  F16 or F32; in F16 elements from 256 on overflow when they are squared. Not on the ANE, for which x
         is divided by its largest element first
axes     as mw_layer_norm
weight   extents of those axes in ascending order, dtype F16 or F32; NULL = none
epsilon  as mw_layer_norm; added to the mean, not a lower bound of it
return   [..]  dtype of x
errors   MW_ERROR_ARGUMENT for an axis out of range or repeated, MW_ERROR_SHAPE if the weight does not fit,
         MW_ERROR_DTYPE
vjp      with r = (mean(x^2) + epsilon)^-1/2, n = x r and g = dy weight:
         dx = r (g - n mean(g n)), dweight = sum of dy n
source   Zhang and Sennrich 2019, as in PyTorch's RMSNorm; square, reduce_mean, rsqrt and mul
""",
    "l2_norm": """y = x / sqrt(sum(x^2) + epsilon), with the sum over the last three axes.
x        [.., C, H, W], rank 3 or more  F16 or F32
epsilon  as mw_layer_norm. MIL's own default is 1e-6
return   shape and dtype of x
errors   MW_ERROR_SHAPE for a lower rank, MW_ERROR_DTYPE
vjp      with r = (sum(x^2) + epsilon)^-1/2: dx = r (dy - y sum(dy y))
source   MIL l2_norm
""",
    "batch_norm": """y = (x - mean) / sqrt(variance + epsilon) * gamma + beta, each channel with its own numbers.
x         [N, C, ..] of rank 3 to 5  F16 or F32
mean      [C]  F16 or F32
variance  [C]  F16 or F32
gamma     [C]  F16 or F32; NULL = none
beta      [C]  as gamma
epsilon   finite and >= 0, rounded to the dtype of x (run-time vectors: of variance). MIL's own default is 1e-5
return    shape and dtype of x
errors    MW_ERROR_SHAPE for another rank or vectors that do not fit, MW_ERROR_DTYPE
vjp       with r = (variance + epsilon)^-1/2, n = (x - mean) r and g = dy gamma: dx = g r, dgamma = sum of dy n,
          dbeta = sum of dy, dmean = -sum of g r, dvariance = -sum of g n r^2 / 2
source    MIL batch_norm, whose vectors must be constants: with others this is sub, rsqrt, mul and add
""",
    "local_response_norm": """y = x / (k + alpha / size * sum(x^2))^beta, with the sum over a window of channels around each.
x       [N, C, ..] of rank 3 or more  F16 or F32
size    > 0: channels c - size / 2 to c + (size - 1) / 2, cut at the ends; an even window has one more below c,
        as in PyTorch. The sum is divided by size also where the window is cut
alpha   MIL's own default is 1e-4
beta    MIL's own default is 0.75
k       MIL's own default is 1
return  shape and dtype of x
errors  MW_ERROR_SHAPE for a lower rank, MW_ERROR_ARGUMENT for size < 1, MW_ERROR_DTYPE
vjp     with d = k + alpha / size * sum(x^2): dx = dy d^-beta - 2 alpha beta / size x s, s the sum of dy y / d
        over the channels whose window holds this one
source  MIL local_response_norm; PyTorch for even sizes
""",
    "layer_norm_layer": """mw_layer_norm over the last axes with new parameters: PyTorch's LayerNorm.
x           [..]  F16 or F32; the normalized extents must be known
axis_count  in [1, rank]
epsilon     as mw_layer_norm
name        the parameters are `name`.weight (ones) and `name`.bias (zeros), in the extents of those axes and the
            dtype of x
return      [..]  dtype of x
errors      MW_ERROR_ARGUMENT for a bad axis_count or a name that is empty or taken, MW_ERROR_SHAPE,
            MW_ERROR_DTYPE
vjp         as mw_layer_norm
""",
    "rms_norm_layer": """mw_rms_norm over the last axes with the new parameter `name`.weight (ones): PyTorch's RMSNorm. Arguments as
mw_layer_norm_layer.
""",
    "group_norm_layer": """mw_group_norm with the new parameters `name`.weight (ones) and `name`.bias (zeros), both [C]: PyTorch's
GroupNorm.
""",
    "instance_norm_layer": """mw_instance_norm with the new parameters `name`.weight (ones) and `name`.bias (zeros), both [C]: PyTorch's
InstanceNorm with affine = True.
""",
    "batch_norm_layer": """y = (x - mean) / sqrt(variance + epsilon) * weight + bias for each channel: PyTorch's BatchNorm1d, 2d and 3d.
In training mean and (biased) variance are those of the batch, and the running ones follow: running = (1 -
momentum) * running + momentum * statistic, the variance unbiased there (n / (n - 1)). Evaluation
(mw_trainer_evaluate, mw_trainer_predict, mw_graph_evaluation) takes the running ones.
x         [N, C, ..], rank 2 or more  F16 or F32; known extents, more than one element per channel
momentum  in [0, 1]; PyTorch has 0.1. (Its momentum = None, the plain average, is not there.)
epsilon   >= 0; PyTorch has 1e-5, which fp16 holds with few bits
name      the parameters are `name`.weight (ones) and `name`.bias (zeros), the states `name`.running_mean (zeros)
          and `name`.running_var (ones), all [C] in the dtype of x. PyTorch's num_batches_tracked is left out
return    shape and dtype of x
errors    MW_ERROR_SHAPE for a lower rank, unknown extents or one element per channel; MW_ERROR_ARGUMENT for
          numbers out of range or a name that is empty or taken; MW_ERROR_DTYPE
vjp       of the operations that it is made of; through mean and variance of the batch too
source    Ioffe and Szegedy 2015, as in PyTorch
""",
    "max_pool": """y[n, c, o] = largest of x[n, c, o s - b + k] over k in [0, K).
x        [N, C, *S]  F16 or F32; no spatial extent is 0
options  not NULL
return   [N, C, floor((S + b + a - K) / s) + 1 for each axis]; MW_PAD_SAME: ceil(S / s). With ceil_mode rounded
         up, then less 1 if the axis is padded and its last window would start at or beyond S + b (PyTorch does
         that without padding too)
errors   MW_ERROR_SHAPE if the kernel exceeds the padded x or x has another rank; MW_ERROR_ARGUMENT for a kernel
         extent or stride below 1, a negative pad, what ceil_mode excludes, or options not made by
         mw_pool_defaults; MW_ERROR_DTYPE
vjp      dx = each dy at the first largest element of its window, in row-major order; padding never takes any.
         Where windows overlap their shares add up. At most 4096 elements a window
source   MIL max_pool; ties as PyTorch
""",
    "avg_pool": """y[n, c, o] = sum of x[n, c, o s - b + k] over k in [0, K), divided by the elements of the window that stand within
[-b, S + a) of each axis, or by those within x (exclude_padding); arguments, shapes and errors as mw_max_pool.
vjp      dx = dy / that count, spread over the window
source   MIL avg_pool; MIL leaves the count of windows cut by ceil_mode open, it is PyTorch's
""",
    "l2_pool": """y[n, c, o] = sqrt(sum of x[n, c, o s - b + k]^2 over k in [0, K)); one or two spatial axes, the rest as mw_max_pool.
vjp      dx = x * (dy / y spread over the window); 0 where y is 0
source   MIL l2_pool; PyTorch's LPPool with norm 2
""",
    "quantize": """y = clip(round(x / scale) + zero_point), ties to even, to the range of dtype. A NaN gives 0.
x           [..]  F16 or F32
scale       [] or [n], n the extent of `axis`; dtype of x, not 0. Computed or a parameter: the same values from
            other operations
zero_point  the same shapes; dtype `dtype`; NULL = 0
axis        in [-rank, rank), along which scale and zero_point lie if they are vectors; else ignored
dtype       MW_I8 or MW_U8
return      [..]  dtype; from ios17 on
errors      MW_ERROR_SHAPE, MW_ERROR_DTYPE, MW_ERROR_ARGUMENT for an axis out of range or another dtype
vjp         none: y is constant almost everywhere (mw_fake_quantize passes dy straight through)
source      MIL quantize
""",
    "dequantize": """y = scale (x - zero_point)
x           [..]  I8 or U8
scale       [] or [n] as for mw_quantize, F16 or F32
zero_point  the same shapes, dtype of x; NULL = 0
return      [..]  dtype of scale; from ios17 on
errors      as mw_quantize
vjp         dscale = sum(dy (x - zero_point)) over what shares a scale; x has no gradient
source      MIL dequantize
""",
    "fake_quantize": """y = dequantize(quantize(x)), with the straight-through gradient: for training that knows of the quantization.
arguments   as mw_quantize; scale may be a parameter, which then is trained too
return      [..]  dtype of x; from ios17 on
errors      as mw_quantize
vjp         dx = dy where round(x / scale) + zero_point lies in the range of dtype, else 0;
            dscale = sum(dy (y - x) / scale) where it does, sum(dy y / scale) elsewhere
source      the formulas of PyTorch's fake_quantize and of its form with a learnable scale
""",
    "constexpr_blockwise_shift_scale": """y = scale (data - offset). data is divided into blocks; each block has one element of scale and one of offset.
data    [..]  constant I4, U4, I8, U8, F16 or F32, rank 1 to 8
scale   [..]  constant F16 or F32, the rank of data, each extent a divisor of that of data
offset  [..]  constant, shape of scale; dtype of data, F16 or F32; NULL = 0
return  [..]  a constant, shape of data, dtype of scale; from ios18 on
errors  MW_ERROR_SHAPE, MW_ERROR_DTYPE, MW_ERROR_ARGUMENT for what is no constant
vjp     none: a constant
source  MIL constexpr_blockwise_shift_scale
""",
    "constexpr_lut_to_dense": """y = lut[indices], from one table for each block of elements; an index may stand for a vector.
indices      [D..]          constant U1, U2, U3, U4, U6 or U8 of b bits, rank 1 to 6
lut          [T.., 2^b, V]  constant I8, U8, F16 or F32; each T a divisor of its D
vector_axis  in [-rank, rank), along which the V elements of an entry stand; ignored for V = 1
return       [D..], V times as long on vector_axis: a constant of the dtype of lut; from ios18 on
errors, vjp  as mw_constexpr_blockwise_shift_scale
source       MIL constexpr_lut_to_dense
""",
    "constexpr_sparse_to_dense": """y = the elements of nonzero_data, in order, where mask is 1, and 0 elsewhere.
nonzero_data  [n]   constant I4, U4, I8, U8, F16 or F32
mask          [..]  constant U1 with n bits set
return        [..]  a constant, shape of mask, dtype of nonzero_data; from ios18 on
errors, vjp   as mw_constexpr_blockwise_shift_scale
source        MIL constexpr_sparse_to_dense
""",
    "random_normal": """y = mean + stddev * sqrt(-2 ln((w0 + 1) / 2^32)) * cos(2 pi w1 / 2^32): normal numbers by Box and Muller.
dtype   MW_F16 or MW_F32
shape   known extents, each 1 or more
mean    finite
stddev  finite, >= 0
seed    >= 0, or -1 = not fixed
return  [shape] of dtype
errors  MW_ERROR_SHAPE for an extent below 1, MW_ERROR_ARGUMENT for numbers out of range, MW_ERROR_DTYPE
vjp     none: there is nothing to differentiate
source  MIL random_normal
""",
    "random_uniform": """y = low + (high - low) * floor(w0 / 2^8) / 2^24, uniform in [low, high); what rounds to high becomes the largest
number of dtype below it.
low     finite, below high, or equal to it: then every number is low
high    finite
vjp     none; the rest as mw_random_normal
source  MIL random_uniform
""",
    "random_bernoulli": """y = 1 where w0 / 2^32 < prob, else 0.
prob    in [0, 1]
vjp     none; the rest as mw_random_normal
source  MIL random_bernoulli
""",
    "random_categorical": """y[.., s] = the first class c with p[0] + .. + p[c] > (w0 / 2^32) * sum(p): `size` classes drawn from each row, with
replacement, by the inverse distribution function.
x       [.., C], rank 1 or more, C known  F16 or F32; a p that is not positive and finite counts as 0, and a row of
        such gives class 0
size    >= 1
seed    >= 0, or -1 = not fixed
return  [.., size]  dtype of x; F16 holds classes up to 2048 exactly
errors  MW_ERROR_SHAPE for rank 0 or C = 0, MW_ERROR_ARGUMENT for size < 1 or seed < -1, MW_ERROR_DTYPE
vjp     dx = 0
source  MIL random_categorical
""",
    "dropout": """y = x * mask / (1 - p), each element of the mask 0 with probability p, else 1: a new mask at every training step.
Evaluation (mw_trainer_evaluate, mw_trainer_predict, mw_graph_evaluation) takes y = x.
x       any shape with known extents  F16 or F32
p       in [0, 1); rounded to a multiple of 1/961 (0.5 becomes 480/961), and the factor is that of the rounded p, so
        that the mean of y is x
name    the generator is the state `name`.generator [2, 8]; layers of different names have different masks
return  shape and dtype of x
errors  MW_ERROR_ARGUMENT for p out of range or a name that is empty or taken; MW_ERROR_SHAPE for unknown extents;
        MW_ERROR_DTYPE
vjp     dx = dy * mask / (1 - p)
note    The mask is made on the device. It depends on the seed of the trainer (mw_compile_options.seed), the name,
        the shape and the number of steps done, and is the same in fp32 and fp16: all numbers are integers that fp16
        holds exactly. A refused step keeps its mask for the next one. Not for cryptography
source  Srivastava et al. 2014, the inverted form, as in PyTorch; the generator is our own (generator.c)
""",
    "noise_normal": """y = mean + stddev * z(u), z the quantile function of the normal distribution: |z| <= 4.97 (beyond lie 7e-7 of the
distribution), no value twice but by rounding. z is off by 2e-5 at most in fp32, by 0.5 % or 0.004 in fp16.
dtype   MW_F16 or MW_F32
mean    finite
stddev  finite, >= 0
name    of the generator: not empty, unique in the graph
return  [shape] of dtype; lives as long as the graph
errors  MW_ERROR_ARGUMENT for numbers out of range or a name that is empty or taken, MW_ERROR_SHAPE, MW_ERROR_DTYPE
vjp     none: there is nothing to differentiate
source  the generator is our own (src/graph/random/generator.c)
""",
    "noise_uniform": """y = low + (high - low) u, in [low, high): u = (k + 1/2) / 923,521 for k from 0 on, each equally likely. What rounds
to high becomes low.
low     finite, below high
high    finite, as is high - low
others  as mw_noise_normal
""",
    "noise_bernoulli": """y = 1 with probability prob, else 0; the same in fp32 and fp16.
prob    in [0, 1]; rounded to a multiple of 1/923,521
others  as mw_noise_normal
""",
    "lstm_layer": """mw_lstm with new parameters: PyTorch's LSTM.
x        [S, B, I], all known  F16 or F32
hidden   H > 0
name     the parameters are `name`.weight_ih_l0 [4 H, I], .weight_hh_l0 [4 H, H], .bias_ih_l0 [4 H] and
         .bias_hh_l0 [4 H], with the gates in PyTorch's order (i, f, z, o); of the reverse direction the same with
         _reverse behind, of further layers with l1, .. and [4 H, D H]. All uniform in +-1/sqrt(H), dtype of x. With
         a dropout, mw_dropout's states are `name`.dropout_l0.generator, ..
options  NULL = mw_recurrent_layer_defaults
return   y [S, B, D H], or [B, S, D H] with batch_first; h and c [layers D, B, H]
errors   MW_ERROR_SHAPE, MW_ERROR_DTYPE, MW_ERROR_ARGUMENT for numbers out of range, options that were not made by
         mw_recurrent_layer_defaults, or a name that is empty or taken
vjp      that of the steps, one by one
source   PyTorch LSTM, without proj_size
""",
    "gru_layer": """mw_gru with reset_after and new parameters: PyTorch's GRU. As mw_lstm_layer, with 3 H rows in the order r, z, n, and
without c.
source  PyTorch GRU
""",
    "reduce_sum": """y = sum of x over the axes.
x          [..]  F16, F32 or I32
axes       in [-rank, rank), each once; MW_ALL_AXES = every axis
keep_dims  true: reduced axes stay with extent 1; false: they are left out
return     dtype of x
errors     MW_ERROR_ARGUMENT for an axis out of range or repeated, MW_ERROR_DTYPE
vjp        dx = dy, repeated over the axes
source     MIL reduce_sum
""",
    "reduce_mean": """y = mean of x over the axes (integers: truncated); arguments as mw_reduce_sum.
errors     also MW_ERROR_SHAPE if an axis has extent 0
vjp        dx = dy / n, repeated; n = elements that make one mean
source     MIL reduce_mean
""",
    "reduce_max": """y = largest of x over the axes; arguments as mw_reduce_sum. The axes must not be empty (extent 0).
vjp        dy goes to the largest elements; equal ones share it evenly
source     MIL reduce_max
""",
    "reduce_min": """y = smallest of x over the axes; arguments as mw_reduce_max.
vjp        dy goes to the smallest elements; equal ones share it evenly
source     MIL reduce_min
""",
    "reduce_log_sum_exp": """y = ln(sum of e^x over the axes), the maximum taken out first (integers: truncated); arguments as
mw_reduce_max.
vjp        dx = dy * e^(x - y)
source     MIL reduce_log_sum_exp
""",
    "reduce_prod": """y = product of x over the axes (integers wrap around); arguments as mw_reduce_sum. Of nothing it is 1.
vjp        dx = dy * product of the other elements, without division: right where x is 0
source     MIL reduce_prod
""",
    "reduce_sum_square": """y = sum of x^2 over the axes (integers wrap around); arguments as mw_reduce_sum.
vjp        dx = 2 x dy
source     MIL reduce_sum_square
""",
    "reduce_l1_norm": """y = sum of |x| over the axes (integers wrap around); arguments as mw_reduce_sum.
vjp        dx = sign(x) dy
source     MIL reduce_l1_norm
""",
    "reduce_l2_norm": """y = sqrt(sum of x^2 over the axes) (integers: truncated); arguments as mw_reduce_sum.
vjp        dx = x dy / y, and 0 where y is 0, as PyTorch's norm
source     MIL reduce_l2_norm
""",
    "reduce_log_sum": """y = ln(sum of x over the axes) (integers: truncated, and 0 for a negative sum); arguments as mw_reduce_max.
vjp        dx = dy / sum of x
source     MIL reduce_log_sum
""",
    "reduce_argmax": """y = position of the largest x along axis: the first of equal ones, or of NaNs, as in NumPy. MIL leaves ties open.
x          [.., n, ..]  F16, F32 or I32; n >= 1
axis       in [-rank, rank)
keep_dims  true: the axis stays with extent 1; false: it is left out
return     I32, in [0, n)
errors     MW_ERROR_ARGUMENT for an axis out of range, MW_ERROR_SHAPE if n is 0, MW_ERROR_DTYPE
vjp        none: integers
source     MIL reduce_argmax; its output_dtype uint16 (from ios17, n <= 65536) is reached by mw_op
""",
    "reduce_argmin": """y = position of the smallest x along axis; the rest as mw_reduce_argmax.
source     MIL reduce_argmin
""",
    "cumsum": """y[i] = x[0] + .. + x[i] along axis.
x          [.., n, ..]  F16, F32 or I32 (which wraps around)
axis       in [-rank, rank)
exclusive  true: without x[i], so that y[0] = 0
reverse    true: from the end, y[i] = x[i] + .. + x[n - 1]
return     shape and dtype of x
errors     MW_ERROR_ARGUMENT for an axis out of range, MW_ERROR_DTYPE
vjp        dx = cumsum(dy, axis, exclusive, not reverse)
source     MIL cumsum
""",
    "resample": """y[n, c, i, j] = x[n, c] at the place coordinates[n, i, j], of which the first number is the column, the second the
row.
x            [N, C, H, W]  F16 or F32
coordinates  [N, I, J, 2]  F32 or I32; F16 from MW_IOS16, integers of 8 and 16 bits from MW_IOS17 on
options      NULL = mw_resample_defaults()
return       [N, C, I, J]  dtype of x
errors       MW_ERROR_SHAPE for other shapes or an image without pixels; MW_ERROR_ARGUMENT for options that are not
             made by mw_resample_defaults; MW_ERROR_DTYPE
vjp          dx = dy put back with the weights it was taken with; dcoordinates = dy times the slope of x there
source       MIL resample
""",
    "affine": """y[n, c, i, j] = x[n, c] at the place (u, v): u = a0 s + a1 t + a2, v = b0 s + b1 t + b2, where (s, t) are column and
row of the element in the result, and all four count from -1 to 1. Outside x is 0.
x                 [N, C, H, W]      F16 or F32
transform_matrix  [N or 1, 6]       dtype of x; a0 a1 a2 b0 b1 b2 of each image, or of all
height            at least 1
width             at least 1
align_corners     as mw_coordinates says, of x and of the result; the one element of an extent of 1 is at -1 then.
                  Apple's compilers take true alone (coremltools: "currently not supported")
return            [N, C, height, width]  dtype of x
errors            MW_ERROR_SHAPE for other shapes or an image without pixels; MW_ERROR_ARGUMENT for a size below 1;
                  MW_ERROR_DTYPE
vjp               as mw_resample; dtransform_matrix is summed over the elements
source            MIL affine. mw_op reaches what mw_resample_options can say as well
""",
    "crop_resize": """y[r, c] = the part boxes[r] of image indices[r] of x, resized linearly. An element whose place is outside the image
is pad_value, however near the image it is. A place is outside if it is more than 1/4096 of a pixel beyond the
centers of the outermost pixels; this tolerance keeps rounding at an edge from deciding. Needs MW_IOS17.
x        [B, C, H, W]  F16 or F32
boxes    [R, 4]        F16, F32 or U16; U16 and other integers only for corners in pixels. A box may end before it
         starts; it is then read in reverse. With normalized corners and MW_SAMPLING_UNALIGN_CORNERS, such an axis
         is taken whole instead
indices  [R]           I32 or U16, 0 to B - 1: an image that does not exist is pad_value; NULL = box r is of image r
height   at least 1
width    at least 1
options  NULL = mw_crop_resize_defaults()
return   [R, C, height, width]  dtype of x
errors   MW_ERROR_SHAPE for other shapes, an image without pixels, or more boxes than images without indices;
         MW_ERROR_ARGUMENT for a size below 1 or options that are not made by mw_crop_resize_defaults;
         MW_ERROR_DTYPE
vjp      as mw_resample; dboxes is summed over the elements inside the image
source   MIL crop_resize. Before ios17 it takes roi [R, 1, 4, 1, 1], every box of all images: [R, B, C, ..], or
         [R, 1, 5, 1, 1] with the index in front: [R, 1, C, ..]; mw_op builds these
""",
    "identity": """y = x.
vjp     dx = dy
source  MIL identity
""",
    "reshape": """y = the elements of x in row-major order, in another shape.
shape   extents; one may be -1 (what remains), 0 copies the extent of x at the same position (only if the ranks are
        equal; in a text of ios17 on, also otherwise: positions count from the last axis, and what x lacks is 1)
errors  MW_ERROR_SHAPE if the counts differ, MW_ERROR_ARGUMENT for another negative extent or a second -1
vjp     dx = reshape(dy, shape of x)
source  MIL reshape
""",
    "flatten2d": """y = x as a matrix [A, B]: A the product of the extents before axis, B that of the others.
axis    in [-rank, rank]; 1 is MIL's default
errors  MW_ERROR_ARGUMENT
vjp     dx = reshape(dy, shape of x)
source  MIL flatten2d; axis = rank, which MIL leaves open, gives [A, 1]
""",
    "transpose": """y[i] has the extent of x at perm[i].
perm    every axis of x once; negative counts from the end
errors  MW_ERROR_ARGUMENT if perm is no permutation
vjp     dx = transpose(dy, inverse of perm)
source  MIL transpose
""",
    "expand_dims": """y = x with axes of extent 1 put in.
axes    where they stand in the result, in [-rank of y, rank of y), each once; at least one
errors  MW_ERROR_ARGUMENT, MW_ERROR_SHAPE if the rank exceeds MW_RANK_MAX
vjp     dx = squeeze(dy, axes)
source  MIL expand_dims
""",
    "squeeze": """y = x without axes of extent 1.
axes    in [-rank, rank), each once; those whose extent is not 1 are left alone; MW_ALL_AXES = each that is 1
errors  MW_ERROR_ARGUMENT
vjp     dx = reshape(dy, shape of x)
source  MIL squeeze
""",
    "concat": """y = the values one after the other along axis.
values  count >= 1 tensors, equal in type, rank and all extents but that of axis; count 0 yields NULL
axis    in [-rank, rank)
errors  MW_ERROR_SHAPE, MW_ERROR_DTYPE, MW_ERROR_ARGUMENT
vjp     dvalues = slices of dy
source  MIL concat
""",
    "stack": """y = the values side by side along a new axis.
values  count >= 1 tensors of one type and shape; count 0 yields NULL
axis    where the new axis stands in the result, in [-rank - 1, rank]
errors  MW_ERROR_SHAPE, MW_ERROR_DTYPE, MW_ERROR_ARGUMENT
vjp     dvalues[i] = dy at position i of the axis
source  MIL stack
""",
    "slice_update_at": """mw_slice_update where begin is computed, as a cache needs it.
update  the rank of x, no extent larger than that of x
begin   [rank of x]  I32; as in mw_slice_by_size_at
errors  MW_ERROR_SHAPE, MW_ERROR_DTYPE; MW_ERROR_UNSUPPORTED below MW_IOS18
vjp     dx = slice_update(dy, 0, begin), dupdate = slice_by_size(dy, begin, shape of update); begin has none
source  MIL slice_update
""",
    "reverse": """y = x with the order of the elements along the axes turned round.
axes    in [-rank, rank), each once; MW_ALL_AXES = all of them
errors  MW_ERROR_ARGUMENT
vjp     dx = reverse(dy, axes)
source  MIL reverse
""",
    "reverse_sequence": """y[.., s, ..] = x[.., lengths[b] - 1 - s, ..] for s < lengths[b], else x[.., s, ..], where b is the position on
batch_axis and s that on seq_axis.
lengths  [extent of batch_axis]  I32; values beyond [0, extent of seq_axis] are taken for the nearer end
axes     in [-rank, rank), different
errors   MW_ERROR_ARGUMENT, MW_ERROR_SHAPE
vjp      dx = reverse_sequence(dy, lengths, seq_axis, batch_axis)
source   MIL reverse_sequence, TensorFlow's tf.reverse_sequence
""",
    "sliding_windows": """y[.., w, k, ..] = x[.., w stride + k, ..]: the windows of an axis.
axis    in [-rank, rank)
size    in [1, extent]
stride  >= 1; the windows overlap below size
return  axis has floor((extent - size) / stride) + 1 windows, a new axis of `size` elements follows it
errors  MW_ERROR_ARGUMENT, MW_ERROR_SHAPE
vjp     dx = dy summed over the windows that hold the element
source  MIL sliding_windows
""",
    "band_part": """y[.., m, n] = x[.., m, n] within the band: (lower < 0 or m - n <= lower) and (upper < 0 or n - m <= upper); else 0.
x       [.., M, N]
lower   diagonals kept below the main one; negative = all
upper   diagonals kept above it; negative = all. Causal masks: lower -1, upper 0
errors  MW_ERROR_SHAPE for a rank below 2
vjp     dx = band_part(dy, lower, upper)
source  MIL band_part
""",
    "tile": """y = x repeated reps[i] times along axis i.
reps    one per axis of x, each >= 1
errors  MW_ERROR_ARGUMENT
vjp     dx = sum of dy over the repetitions
source  MIL tile
""",
    "fill": """y = `value` everywhere.
dtype   F16, F32, I32 or BOOL
shape   known extents
errors  MW_ERROR_DTYPE, MW_ERROR_SHAPE
vjp     none: value is a constant
source  MIL fill
""",
    "fill_like": """y = `value` everywhere, in the shape of ref.
ref     any type, read for its shape alone
dtype   F16, F32, I32 or BOOL
errors  MW_ERROR_DTYPE; MW_ERROR_UNSUPPORTED below MW_IOS16
vjp     zero
source  MIL fill_like
""",
    "shape_of": """y = the extents of x.
return  [rank of x]  I32; constant, since the extents are known when a program is planned
vjp     none: integers
source  MIL shape
""",
    "range_1d": """y = start, start + step, ... as long as it stays before end.
dtype   F16, F32 or I32
step    not 0
return  [ceil((end - start) / step)], at least 0
errors  MW_ERROR_ARGUMENT, MW_ERROR_DTYPE
vjp     dstart = sum(dy), dstep = sum(i * dy[i]), dend = 0, where mw_op or a program that was read computes them
source  MIL range_1d
""",
    "argsort": """r = the indices along axis that sort x; MIL's own default is descending.
x          [.., n, ..]  F16, F32 or I32
axis       in [-rank, rank)
ascending  false: the largest first
return     [.., n, ..]  I32
errors     MW_ERROR_ARGUMENT if axis is out of range, MW_ERROR_DTYPE
vjp        none: integers
source     MIL argsort
""",
    "depth_to_space": """y[n, c, h b + i, w b + j] = x[n, (i b + j) C + c, h, w]: TensorFlow's order (DCR of ONNX).
x       [N, b b C, H, W]
block   b, in [1, 32767]
return  [N, C, H b, W b]
errors  MW_ERROR_SHAPE if the channels do not divide, MW_ERROR_ARGUMENT
vjp     dx = space_to_depth(dy, b)
source  MIL depth_to_space
""",
    "space_to_depth": """y[n, (i b + j) C + c, h, w] = x[n, c, h b + i, w b + j]: the inverse of mw_depth_to_space.
x       [N, C, H b, W b]
block   b, in [1, 32767]
return  [N, b b C, H, W]
errors  MW_ERROR_SHAPE if height or width do not divide, MW_ERROR_ARGUMENT
vjp     dx = depth_to_space(dy, b)
source  MIL space_to_depth
""",
    "pixel_shuffle": """y[n, c, h b + i, w b + j] = x[n, c b b + i b + j, h, w]: PyTorch's order (CRD of ONNX).
x       [N, C b b, H, W]
factor  b, in [1, 32767]
return  [N, C, H b, W b]
errors  MW_ERROR_SHAPE if the channels do not divide, MW_ERROR_ARGUMENT
vjp     dx = pixel_unshuffle(dy, b)
source  MIL pixel_shuffle, PyTorch's pixel_shuffle
""",
    "pixel_unshuffle": """y[n, c b b + i b + j, h, w] = x[n, c, h b + i, w b + j]: the inverse of mw_pixel_shuffle.
x       [N, C, H b, W b]
factor  b, in [1, 32767]
return  [N, C b b, H, W]
errors  MW_ERROR_SHAPE if height or width do not divide, MW_ERROR_ARGUMENT; MW_ERROR_UNSUPPORTED below MW_IOS16
vjp     dx = pixel_shuffle(dy, b)
source  MIL pixel_unshuffle, PyTorch's pixel_unshuffle
""",
    "example_norms": """n[b] = sqrt(sum over i and all elements of dx[i][b]^2): how long the gradient of each example is.
dx      count >= 1 tensors [B, ..]  F16 or F32, all of one type
return  [B]; lives as long as the graph. NULL for a NULL tensor
errors  MW_ERROR_SHAPE if a first extent differs, MW_ERROR_DTYPE
""",
}
