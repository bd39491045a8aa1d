/* The table of units: one row drives both directions. A unit is found by type and Params.Type, the first row that fits;
 * an operation by its name, the first row that writes it. docs/netplist.md lists the rows. */
#include "chip/netplist/handlers.h"

#define NEURON(kind, operation)                                                                                        \
    {                                                                                                                  \
        "Neuron", kind, operation, mw__net_write_unary, mw__net_read_unary, {{0}}, NULL                                \
    }
#define BINARY(kind, operation)                                                                                        \
    {                                                                                                                  \
        "ElementWise", kind, operation, mw__net_write_binary, mw__net_read_binary, {{0}}, NULL                         \
    }
#define UNIT(type, kind, operation, write, read)                                                                       \
    {                                                                                                                  \
        type, kind, operation, write, read, {{0}}, NULL                                                                \
    }
#define FORM(operation, write)                                                                                         \
    {                                                                                                                  \
        NULL, NULL, operation, write, NULL, {{0}}, NULL                                                                \
    }
#define REFUSED(type, why)                                                                                             \
    {                                                                                                                  \
        type, NULL, NULL, NULL, NULL, {{0}}, why                                                                       \
    }

const mw__net_row mw__net_rows[] = {
    NEURON("ReLU", "relu"),
    NEURON("SigmoidHighPrecision", "sigmoid"),
    NEURON("GELU", "gelu"),
    NEURON("Tanh", "tanh"),
    NEURON("Sqrt", "sqrt"),
    NEURON("Rsqrt", "rsqrt"),
    NEURON("Exp2", "exp2"),
    NEURON("Inv", "inverse"),
    NEURON("Sin", "sin"),
    NEURON("Cos", "cos"),
    NEURON("Ceil", "ceil"),
    NEURON("Floor", "floor"),
    NEURON("RoundNearest", "round"),
    NEURON("Sign", "sign"),
    {"Neuron", "ELU", "elu", mw__net_write_unary, mw__net_read_unary, {{"EluAlpha", "alpha"}}, NULL},
    {"Neuron",
     "LeakyReLU",
     "leaky_relu",
     mw__net_write_unary,
     mw__net_read_unary,
     {{"ReluSlope", "alpha"}, {"ReluOffset", NULL}},
     NULL},
    {"Neuron",
     "ClampedReLU",
     "clip",
     mw__net_write_unary,
     mw__net_read_unary,
     {{"ReluMin", "alpha"}, {"ReluMax", "beta"}},
     NULL},
    UNIT("Neuron", "Log2", NULL, NULL, mw__net_read_log2),
    {"ElementWise", "Abs", "abs", mw__net_write_unary, mw__net_read_unary, {{0}}, NULL},
    BINARY("Add", "add"),
    BINARY("Mult", "mul"),
    BINARY("Sub", "sub"),
    BINARY("Min", "minimum"),
    BINARY("Max", "maximum"),
    BINARY("GreaterThan", "greater"),
    BINARY("LessThan", "less"),
    BINARY("Equal", "equal"),
    BINARY("NotEqual", "not_equal"),
    UNIT("GOC", NULL, "linear_activation", mw__net_write_linear_activation, mw__net_read_goc),
    UNIT("ScaledElementWise", NULL, NULL, NULL, mw__net_read_scaled),
    UNIT("Broadcast", NULL, "tile", mw__net_write_tile, mw__net_read_broadcast),
    UNIT("Softmax", NULL, "softmax", mw__net_write_softmax, mw__net_read_softmax),
    UNIT("Pooling", "Max", "max_pool", mw__net_write_pool, mw__net_read_pool),
    UNIT("Pooling", "Avg", "avg_pool", mw__net_write_pool, mw__net_read_pool),
    UNIT("Reduction", "Sum", "reduce_sum", mw__net_write_reduce, mw__net_read_reduce),
    UNIT("Reduction", "Avg", "reduce_mean", mw__net_write_reduce, mw__net_read_reduce),
    UNIT("Reduction", "Max", "reduce_max", mw__net_write_reduce, mw__net_read_reduce),
    UNIT("Reduction", "Min", "reduce_min", mw__net_write_reduce, mw__net_read_reduce),
    UNIT("Transpose", NULL, "transpose", mw__net_write_transpose, mw__net_read_transpose),
    UNIT("MatrixMultiplication", NULL, "matmul", mw__net_write_matmul, mw__net_read_matmul),
    UNIT("Conv", "Conv", "conv", mw__net_write_conv, mw__net_read_conv),
    UNIT("SDPA", NULL, "scaled_dot_product_attention", mw__net_write_attention, mw__net_read_attention),
    UNIT("Sort", NULL, "argsort", mw__net_write_sort, mw__net_read_sort),
    UNIT("TopK", NULL, "topk", mw__net_write_topk, mw__net_read_topk),
    UNIT("ArgMinMax", NULL, NULL, NULL, mw__net_read_arg),
    UNIT("GlobalArgMinMax", "Max", "reduce_argmax", mw__net_write_arg, mw__net_read_global_arg),
    UNIT("GlobalArgMinMax", "Min", "reduce_argmin", mw__net_write_arg, mw__net_read_global_arg),
    UNIT("PixelShuffle", NULL, "pixel_shuffle", mw__net_write_space, mw__net_read_space),
    UNIT("PixelUnshuffle", NULL, "pixel_unshuffle", mw__net_write_space, mw__net_read_space),
    UNIT("ChannelToSpace", NULL, "depth_to_space", mw__net_write_space, mw__net_read_space),
    UNIT("SpaceToChannel", NULL, "space_to_depth", mw__net_write_space, mw__net_read_space),
    UNIT("SpaceToBatch", NULL, "space_to_batch", mw__net_write_batch_space, mw__net_read_space),
    UNIT("BatchToSpace", NULL, "batch_to_space", mw__net_write_batch_space, mw__net_read_space),
    UNIT("LocalResponseNormalization", NULL, "local_response_norm", mw__net_write_lrn, mw__net_read_lrn),
    UNIT("MinMaxNormalization", NULL, NULL, NULL, mw__net_read_min_max),
    UNIT("Concat", NULL, "concat", mw__net_write_concat, mw__net_read_concat),
    UNIT("InputView", NULL, "slice_by_size", mw__net_write_slice_size, mw__net_read_view),
    UNIT("Reshape", NULL, "reshape", mw__net_write_reshape, mw__net_read_reshape),
    UNIT("Flatten", NULL, NULL, NULL, mw__net_read_flatten),
    UNIT("Dropout", NULL, NULL, NULL, mw__net_read_identity),
    UNIT("Gather", NULL, "gather", mw__net_write_gather, mw__net_read_gather),

    REFUSED("CrossCorrelation", "how the channels of its template lie is not public"),
    REFUSED("CostVolume", "MIL has no operation of it, and its formula is not public"),
    REFUSED("CrossProduct", "MIL has no operation of it"),
    REFUSED("FurthestPointSampling", "MIL has no operation of it"),
    REFUSED("RadiusSearch", "MIL has no operation of it"),
    REFUSED("DynamicSlice", "its index is found in ways that differ between chips"),
    REFUSED("Tile", "its Params are not public"),
    REFUSED("DynamicGOC", "its order of scale and bias was seen in networks of one column alone"),
    REFUSED("KernelRasterizer", "MIL has no operation of it"),
    REFUSED("MatrixDecomposition", "MIL has no operation of it"),
    REFUSED("Neuron", "MIL has no operation for its Params.Type"),
    REFUSED("ElementWise", "MIL has no operation for its Params.Type"),
    REFUSED("Pooling", "MIL has no operation for its Params.Type"),
    REFUSED("Reduction", "MIL has no operation for its Params.Type"),
    REFUSED("Conv", "only Params.Type Conv is known well enough"),
    REFUSED("GlobalArgMinMax", "its Params.Type is Max or Min"),

    FORM("silu", mw__net_write_silu),
    FORM("square", mw__net_write_square),
    FORM("relu6", mw__net_write_relu6),
    FORM("real_div", mw__net_write_real_div),
    FORM("floor_div", mw__net_write_real_div),
    FORM("exp", mw__net_write_exp),
    FORM("log", mw__net_write_log),
    FORM("less_equal", mw__net_write_or_equal),
    FORM("greater_equal", mw__net_write_or_equal),
    {NULL, "Mult", "logical_and", mw__net_write_binary, NULL, {{0}}, NULL},
    {NULL, "Max", "logical_or", mw__net_write_binary, NULL, {{0}}, NULL},
    {NULL, "NotEqual", "logical_xor", mw__net_write_binary, NULL, {{0}}, NULL},
    FORM("logical_not", mw__net_write_not),
    FORM("linear", mw__net_write_linear),
    FORM("split", mw__net_write_split),
    FORM("slice_by_index", mw__net_write_slice),
    FORM("expand_dims", mw__net_write_reshape),
    FORM("squeeze", mw__net_write_reshape),
    FORM("flatten2d", mw__net_write_reshape),
    FORM("identity", mw__net_write_alias),
    FORM("cast", mw__net_write_alias),
};
const size_t mw__net_row_count = sizeof mw__net_rows / sizeof *mw__net_rows;
