/* Questions about what a chip's compiler takes, when it is called directly. */
#include "question.h"

#define LIMITS "M6 study (c): not swept on M1, M2, M3, M5"

#define TAKEN(name, asks, signature_, text_)                                                                           \
    {                                                                                                                  \
        name, asks, LIMITS, QUESTION_TAKEN, .signature = signature_, .text = text_, .readings = {                      \
            {{1}, NULL, "as M4 and M6 take it"},                                                                       \
            {{0}, NULL, "unlike M4 and M6, which take it"}                                                             \
        }                                                                                                              \
    }
#define REFUSED(name, asks, signature_, text_)                                                                         \
    {                                                                                                                  \
        name, asks, LIMITS, QUESTION_TAKEN, .signature = signature_, .text = text_, .readings = {                      \
            {{0}, NULL, "as M4 and M6 refuse it"},                                                                     \
            {{1}, NULL, "unlike M4 and M6, which refuse it"}                                                           \
        }                                                                                                              \
    }

#define COREML(name, asks, signature_, text_)                                                                          \
    {                                                                                                                  \
        name, asks, "M6 study (c): asked of Core ML alone", QUESTION_TAKEN,                                            \
            .signature = signature_, .text = text_, .readings = {                                                      \
                {{1}, NULL, "as Core ML on M4 takes it"},                                                              \
                {{0}, NULL, "Core ML on M4 takes it"}                                                                  \
            }                                                                                                          \
    }

#define IMAGE "tensor<fp16, [1, 4, 64, 64]> x"
#define POOL(operation, height, width)                                                                                 \
    "tensor<fp16, [1, 4, 64, 64]> y = " operation "kernel_sizes = tensor<int32, [2]>([" #height ", " #width            \
    "]), pad = tensor<int32, [4]>([0, 0, 0, 0]), pad_type = string(\"same\"), strides = tensor<int32, [2]>([1, 1]), "  \
    "ceil_mode = bool(false), x = x)[name = string(\"y\")];"
#define MAX_POOL(height, width) POOL("max_pool(", height, width)
#define AVG_POOL(height, width) POOL("avg_pool(exclude_padding_from_average = bool(false), ", height, width)

/* %W is replaced by a constant of ones of that shape. */
#define CONV(height, width)                                                                                            \
    "%W[4, 4, " #height ", " #width                                                                                    \
    "]\ntensor<fp16, [1, 4, 64, 64]> y = conv(dilations = tensor<int32, [2]>([1, 1]), groups = int32(1), pad = "       \
    "tensor<int32, [4]>([0, 0, 0, 0]), pad_type = string(\"same\"), strides = tensor<int32, [2]>([1, 1]), weight = "   \
    "w, "                                                                                                              \
    "x = x)[name = string(\"y\")];"
#define MATMUL                                                                                                         \
    "bool no = const()[name = string(\"no\"), val = bool(false)];\ntensor<fp16, [8, 8]> y = matmul(transpose_x = no, " \
    "transpose_y = no, x = x, y = z)[name = string(\"y\")];"

const question question_limits[] = {
    TAKEN("max_pool_8x8", "max_pool of 8x8, same", IMAGE, MAX_POOL(8, 8)),
    REFUSED("max_pool_9x9", "max_pool of 9x9, same", IMAGE, MAX_POOL(9, 9)),
    TAKEN("max_pool_9x1", "max_pool of 9x1, same", IMAGE, MAX_POOL(9, 1)),
    REFUSED("max_pool_1x9", "max_pool of 1x9, same", IMAGE, MAX_POOL(1, 9)),
    TAKEN("avg_pool_14x14", "avg_pool of 14x14, same", IMAGE, AVG_POOL(14, 14)),
    TAKEN("conv_31x1", "conv of 31x1, same", IMAGE, CONV(31, 1)),
    REFUSED("conv_32x1", "conv of 32x1, same", IMAGE, CONV(32, 1)),
    TAKEN("conv_1x15", "conv of 1x15, same", IMAGE, CONV(1, 15)),
    REFUSED("conv_1x16", "conv of 1x16, same", IMAGE, CONV(1, 16)),
    TAKEN("conv_15x15", "conv of 15x15, same", IMAGE, CONV(15, 15)),
    REFUSED("conv_17x17", "conv of 17x17, same", IMAGE, CONV(17, 17)),
    TAKEN("matmul_32768", "matmul of an inner extent of 32768",
          "tensor<fp16, [8, 32768]> x, tensor<fp16, [32768, 8]> z", MATMUL),
    REFUSED("matmul_40000", "matmul of an inner extent of 40000",
            "tensor<fp16, [8, 40000]> x, tensor<fp16, [40000, 8]> z", MATMUL),
    TAKEN("axis_65536", "relu of [1, 65536]", "tensor<fp16, [1, 65536]> x",
          "tensor<fp16, [1, 65536]> y = relu(x = x)[name = string(\"y\")];"),
    REFUSED("axis_65537", "relu of [1, 65537]", "tensor<fp16, [1, 65537]> x",
            "tensor<fp16, [1, 65537]> y = relu(x = x)[name = string(\"y\")];"),
    REFUSED("rank_6", "relu of rank 6", "tensor<fp16, [1, 1, 1, 1, 2, 2]> x",
            "tensor<fp16, [1, 1, 1, 1, 2, 2]> y = relu(x = x)[name = string(\"y\")];"),
    {"topk", "topk of 4 of 64, called directly", LIMITS, QUESTION_TAKEN, .signature = "tensor<fp16, [1, 64]> x",
     .text = "tensor<fp16, [1, 4]> y, tensor<int32, [1, 4]> i = topk(ascending = bool(false), axis = int32(1), k = "
             "int32(4), output_indices_dtype = string(\"int32\"), return_indices = bool(true), sort = bool(true), x = "
             "x)[name = string(\"y\")];",
     .readings = {{{1}, NULL, "as M6 takes it"}, {{0}, NULL, "as M4 refuses it"}}},
    COREML("logical_and", "logical_and of two comparisons", "tensor<fp16, [4]> x, tensor<fp16, [4]> z",
           "tensor<bool, [4]> a = greater(x = x, y = z)[name = string(\"a\")];\n"
           "tensor<bool, [4]> b = less(x = x, y = z)[name = string(\"b\")];\n"
           "tensor<bool, [4]> c = logical_and(x = a, y = b)[name = string(\"c\")];\n"
           "tensor<fp16, [4]> y = select(a = x, b = z, cond = c)[name = string(\"y\")];"),
    COREML("pad_channels", "pad of channels by a constant", IMAGE,
           "tensor<fp16, [1, 6, 64, 64]> y = pad(constant_val = fp16(0), mode = string(\"constant\"), pad = "
           "tensor<int32, [8]>([0, 0, 1, 1, 0, 0, 0, 0]), x = x)[name = string(\"y\")];"),
    {0},
};
