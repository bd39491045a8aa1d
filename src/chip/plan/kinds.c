/* Which layer an operation heads, and on which engine. The guide names the engine of softmax, of multiply-accumulate
 * work and of what samples; compiled programs of H13 that are public show those of element-wise operations, activations
 * and concat. The rest is a model and says so. */
#include "chip/plan/plan.h"

#include <string.h>

#define PUBLIC_HWX "public .hwx of H13"

#define NEURAL    MW_CHIP_ENGINE_NEURAL
#define PLANAR    MW_CHIP_ENGINE_PLANAR
#define TEXTURE   MW_CHIP_ENGINE_TEXTURE
#define TRANSPOSE MW_CHIP_ENGINE_TRANSPOSE

static const mw__chip_layer_kind convolution = {"convolution", MW__LAYER_PRODUCT, NEURAL, "ane-guide, ch. 22"};
static const mw__chip_layer_kind gain_offset = {"gain_offset", MW__LAYER_EPILOGUE, NEURAL,
                                                "ane-guide, ch. 22: ZinNEBypassLayer"};
static const mw__chip_layer_kind sampled = {"sample", MW__LAYER_OTHER, TEXTURE, "ane-guide, ch. 22, table 22.5"};
static const mw__chip_layer_kind unsampled = {"sample", MW__LAYER_OTHER, NEURAL, "model: what a chip without one does"};
static const mw__chip_layer_kind gathered = {"gather", MW__LAYER_OTHER, TEXTURE,
                                             "ANEForge: gather needs what sampling needs"};
static const mw__chip_layer_kind ungathered = {"gather", MW__LAYER_OTHER, PLANAR, "model"};
static const mw__chip_layer_kind other = {"other", MW__LAYER_OTHER, PLANAR, "model"};

/* By the word in the kernel column, which is that of the family. */
static const struct kind_row {
    const char *kernel;
    mw__chip_layer_kind kind;
} rows[] = {
    {"conv", {"convolution", MW__LAYER_PRODUCT, NEURAL, "ane-guide, ch. 22"}},
    {"conv_transpose", {"convolution", MW__LAYER_PRODUCT, NEURAL, "ane-guide, ch. 22"}},
    {"matmul", {"matmul", MW__LAYER_PRODUCT, NEURAL, "ane-guide, ch. 22"}},
    {"linear", {"matmul", MW__LAYER_PRODUCT, NEURAL, "ane-guide, ch. 22"}},
    {"einsum", {"matmul", MW__LAYER_PRODUCT, NEURAL, "ane-guide, ch. 22"}},
    {"pool", {"pool", MW__LAYER_POOL, PLANAR, "model: no sum of products"}},
    {"binary", {"elementwise", MW__LAYER_ELEMENTWISE, PLANAR, PUBLIC_HWX}},
    {"compare", {"elementwise", MW__LAYER_ELEMENTWISE, PLANAR, "model: as binary"}},
    {"select", {"elementwise", MW__LAYER_ELEMENTWISE, PLANAR, "model: as binary"}},
    {"cast", {"cast", MW__LAYER_ELEMENTWISE, PLANAR, "model: as binary"}},
    {"unary", {"neuron", MW__LAYER_EPILOGUE, NEURAL, PUBLIC_HWX}},
    {"per_channel", {"neuron", MW__LAYER_EPILOGUE, NEURAL, PUBLIC_HWX}},
    {"batch_norm", {"gain_offset", MW__LAYER_EPILOGUE, NEURAL, "ane-guide, ch. 22: ZinNEBypassLayer"}},
    {"quantize", {"quantize", MW__LAYER_EPILOGUE, NEURAL, "ane-guide, ch. 22: ZinNEBypassLayer"}},
    {"dequantize", {"gain_offset", MW__LAYER_EPILOGUE, NEURAL, "ane-guide, ch. 22: standalone dequantize GOC"}},
    {"reduce", {"reduction", MW__LAYER_REDUCTION, PLANAR, PUBLIC_HWX}},
    {"reduce_arg", {"argument", MW__LAYER_OTHER, PLANAR, "model: as reduction"}},
    {"softmax", {"softmax", MW__LAYER_OTHER, PLANAR, "ane-guide, ch. 22, phase 3"}},
    {"layer_norm", {"normalization", MW__LAYER_OTHER, PLANAR, "model: as softmax"}},
    {"instance_norm", {"normalization", MW__LAYER_OTHER, PLANAR, "model: as softmax"}},
    {"l2_norm", {"normalization", MW__LAYER_OTHER, PLANAR, "model: as softmax"}},
    {"local_response_norm", {"normalization", MW__LAYER_OTHER, PLANAR, "model: as softmax"}},
    {"scaled_dot_product_attention", {"sdpa", MW__LAYER_OTHER, NEURAL, "ane-guide, ch. 22"}},
    {"transpose", {"transpose", MW__LAYER_MOVE, TRANSPOSE, "ane-guide, ch. 22: the dedicated transpose engine"}},
    {"view", {"reshape", MW__LAYER_MOVE, TRANSPOSE, "model: as transpose"}},
    {"concat", {"concat", MW__LAYER_MOVE, NEURAL, PUBLIC_HWX}},
    {"stack", {"concat", MW__LAYER_MOVE, NEURAL, "model: as concat"}},
    {"split", {"copy", MW__LAYER_MOVE, NEURAL, "model: as concat"}},
    {"slice", {"copy", MW__LAYER_MOVE, NEURAL, "model: as concat"}},
    {"slice_update", {"copy", MW__LAYER_MOVE, NEURAL, "model: as concat"}},
    {"tile", {"copy", MW__LAYER_MOVE, NEURAL, "model: as concat"}},
    {"pad", {"copy", MW__LAYER_MOVE, NEURAL, "model: as concat"}},
    {"fill", {"copy", MW__LAYER_MOVE, NEURAL, "model: as concat"}},
    {"reverse", {"copy", MW__LAYER_MOVE, NEURAL, "model: as concat"}},
    {"depth_to_space", {"copy", MW__LAYER_MOVE, NEURAL, "model: as concat"}},
    {"space_to_depth", {"copy", MW__LAYER_MOVE, NEURAL, "model: as concat"}},
    {"pixel_shuffle", {"copy", MW__LAYER_MOVE, NEURAL, "model: as concat"}},
    {"pixel_unshuffle", {"copy", MW__LAYER_MOVE, NEURAL, "model: as concat"}},
    {"space_to_batch", {"copy", MW__LAYER_MOVE, NEURAL, "model: as concat"}},
    {"batch_to_space", {"copy", MW__LAYER_MOVE, NEURAL, "model: as concat"}},
    {"random", {"random", MW__LAYER_OTHER, PLANAR, "model"}},
    {"sort", {"sort", MW__LAYER_OTHER, PLANAR, "model"}},
};

/* The families are those of kernels; what an operation is able to do, its traits say. */
static bool is_kernel(const mw__op *op, const char *name) { return strcmp(op->row->kernel, name) == 0; }

const mw__chip_layer_kind *mw__chip_layer_kind_of(const mw__op *op, const mw__chip_row *chip)
{
    if (op->row == NULL)
        return &other;
    if (is_kernel(op, "resample") || is_kernel(op, "sample") || is_kernel(op, "crop"))
        return chip->has_texture_engine ? &sampled : &unsampled;
    if (is_kernel(op, "gather") || is_kernel(op, "scatter"))
        return chip->has_texture_engine ? &gathered : &ungathered;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (is_kernel(op, rows[i].kernel))
            return &rows[i].kind;
    return &other;
}

const mw__chip_layer_kind *mw__chip_layer_kind_convolution(void) { return &convolution; }
const mw__chip_layer_kind *mw__chip_layer_kind_gain_offset(void) { return &gain_offset; }

static bool is_in(mw__op_id id, const mw__op_id *ids, size_t count)
{
    bool found = false;
    for (size_t i = 0; i < count; i++)
        found = found || ids[i] == id;
    return found;
}

bool mw__chip_layer_function_is_curve(const mw__op *op)
{
    static const mw__op_id lines[] = {MW__OP_relu,         MW__OP_relu6,
                                      MW__OP_leaky_relu,   MW__OP_prelu,
                                      MW__OP_clamped_relu, MW__OP_thresholded_relu,
                                      MW__OP_clip,         MW__OP_threshold,
                                      MW__OP_sigmoid_hard, MW__OP_linear_activation,
                                      MW__OP_abs,          MW__OP_sign,
                                      MW__OP_floor,        MW__OP_ceil,
                                      MW__OP_round,        MW__OP_logical_not};
    return !is_in(op->row->id, lines, sizeof lines / sizeof *lines);
}

bool mw__chip_layer_function_is_published(const mw__op *op)
{
    static const mw__op_id published[] = {MW__OP_relu,         MW__OP_relu6, MW__OP_leaky_relu, MW__OP_prelu,
                                          MW__OP_clamped_relu, MW__OP_clip,  MW__OP_silu,       MW__OP_sigmoid,
                                          MW__OP_tanh,         MW__OP_gelu};
    return is_in(op->row->id, published, sizeof published / sizeof *published);
}
