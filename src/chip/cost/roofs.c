/* The planner's roofs by platform, and how it counts what an operation does.
 *
 * Source: the M6 study (github.com/751K/Apple-Neural-Engine-Microarchitecture-Study-M6, MIT), report 5.2 and
 * data/03_compile/opdispatch: estimates that the planner prints into analytics.mil. The roofs were fitted to those. For
 * conv, linear, add, transpose, gather and upsample it asks decision trees, of which a leaf is known and no more. */
#include "chip/cost/roofs.h"
#include "chip/cost/place.h"
#include "graph/ir/count.h"

#include <string.h>
#include <strings.h>

/* ---- platforms ---- */

#define CPU_GIB (170.0 / 3.0) /* 56.67; the estimate of abs has it as 68 / 1.2 to seven digits */
#define H16G_ROOFS                                                                                                     \
    {                                                                                                                  \
        [MW__ROOF_ANE] = {19400.0, 68.0}, [MW__ROOF_BNNS] = {754.54, CPU_GIB}, [MW__ROOF_CLASSIC_CPU] = {              \
            656.0,                                                                                                     \
            CPU_GIB                                                                                                    \
        }                                                                                                              \
    }

/* conv_gflops: of 3 x 3 from 64 to 64 channels over 32 x 32. */
static const mw__roof_platform platforms[] = {
    {.name = "H13G",
     .roofs = {[MW__ROOF_ANE] = {12000.0, 68.0},
               [MW__ROOF_BNNS] = {729.24, CPU_GIB},
               [MW__ROOF_CLASSIC_CPU] = {634.0, CPU_GIB}},
     .conv_gflops = 11582.0},
    {.name = "H14G", .roofs = H16G_ROOFS, .conv_gflops = 16152.0, .borrowed = "H16G"},
    {.name = "H16G", .roofs = H16G_ROOFS, .conv_gflops = 16152.0},
    {.name = "H17G",
     .roofs = H16G_ROOFS,
     .conv_gflops = 8610.0,
     .borrowed = "H16G"},                                          /* it has trees for products too */
    {.name = "H18G", .roofs = H16G_ROOFS, .conv_gflops = 16152.0}, /* the same as H16G, byte for byte: one engine */
    {.name = "H19",
     .roofs =
         {[MW__ROOF_ANE] = {16900.0, 58.0}, [MW__ROOF_BNNS] = {968.48, 51.0}, [MW__ROOF_CLASSIC_CPU] = {842.0, 42.5}},
     .conv_gflops = 13916.0},
};

const mw__roof_platform *mw__roof_platform_named(const char *name)
{
    for (size_t i = 0; i < sizeof platforms / sizeof *platforms; i++)
        if (strcasecmp(platforms[i].name, name) == 0)
            return &platforms[i];
    return NULL;
}

const mw__roof_platform *mw__roof_platform_of(mw_chip chip)
{
    const char *name = chip == MW_CHIP_H14    ? "H14G"
                       : chip == MW_CHIP_H17  ? "H17G"
                       : chip == MW_CHIP_H18G ? "H18G"
                       : chip == MW_CHIP_H19  ? "H19"
                       : chip >= MW_CHIP_H15  ? "H16G"
                                              : "H13G";
    return mw__roof_platform_named(name);
}

mw_chip_rates mw__roof_rates(const mw__roof_platform *platform, mw__roof_backend backend)
{
    return (mw_chip_rates){
        .gflops = platform->roofs[backend].gflops,
        .gbytes = platform->roofs[backend].gib * (double)(1 << 30) * 1e-9,
        .die = platform->name,
        .anchor = platform->borrowed != NULL ? platform->borrowed : platform->name,
        .measured = platform->borrowed == NULL,
        .source = "M6 study, report 5.2: roofs fitted to the estimates that the planner prints; nothing timed"};
}

/* ---- what it counts ---- */

static double elements_of(const mw_tensor *value)
{
    double product = 1.0;
    for (int i = 0; value->type->kind == MW__TENSOR && i < value->type->shape.rank; i++)
        product *= value->type->shape.dim[i] > 0 ? (double)value->type->shape.dim[i] : 0.0;
    return product;
}

static bool is_operand(const mw_tensor *value)
{
    return value != NULL && value->type->kind == MW__TENSOR && value->type->dtype != MW_STRING;
}

static bool is_product(const mw__op *op)
{
    const mw__count_rule rule = op->row != NULL ? mw__op_count_row_of(op->row->id)->rule : MW__COUNT_UNKNOWN;
    return rule == MW__COUNT_PRODUCT || rule == MW__COUNT_EINSUM || rule == MW__COUNT_WINDOWS ||
           rule == MW__COUNT_WINDOWS_BACK || rule == MW__COUNT_GATES;
}

/* Published: softmax 35, abs, reduce_sum and transpose 2, add of two operands 4 for an element. So 2 for each element
 * of each operand; that this holds for others too is ours, and of no effect: bytes bind them. */
static double count_flops(const mw__op *op)
{
    const double each = strcmp(op->kind, "softmax") == 0 ? 35.0 : 2.0;
    double sum = is_product(op) || op->block_count > 0 ? mw__op_products(op) : 0.0;
    for (size_t s = 0; s < op->slot_count && !is_product(op); s++)
        for (size_t i = 0; i < op->slots[s].count; i++) {
            const mw_tensor *value = op->slots[s].operands[i].value;
            if (is_operand(value) && value->type->shape.rank > 0 && mw_dtype_bits(value->type->dtype) >= 8)
                sum += each * elements_of(value);
        }
    return sum;
}

/* All inputs, numbers like the two of band_part too, and all outputs; of topk the values alone. */
static uint64_t count_bytes(const mw__op *op)
{
    uint64_t sum = 0;
    for (size_t s = 0; s < op->slot_count; s++)
        for (size_t i = 0; i < op->slots[s].count; i++)
            if (is_operand(op->slots[s].operands[i].value))
                sum = mw__add_saturated(sum, mw__value_bytes(op->slots[s].operands[i].value));
    for (size_t i = 0; i < op->result_count; i++)
        if (is_operand(op->results[i]) && op->results[i]->type->dtype == op->results[0]->type->dtype)
            sum = mw__add_saturated(sum, mw__value_bytes(op->results[i]));
    return sum;
}

/* ---- estimates ---- */

mw_chip_cost mw__roof_cost(const mw_chip_rates *rates, const mw__op *op)
{
    const bool constant = mw__chip_place_is_constant(op);
    return mw_chip_cost_of(rates, constant ? 0.0 : count_flops(op), constant ? 0 : count_bytes(op));
}

/* How far a leaf reaches is not published. It is taken for convolutions of half to twice the work of the one that it
 * was read from: 2 * 64 * 64 * 9 * 1024 flops. */
static bool has_leaf(const mw__roof_platform *platform, mw__roof_backend backend, const mw__op *op)
{
    static const double known = 75497472.0;
    if (backend != MW__ROOF_ANE || platform->conv_gflops <= 0.0 || strcmp(op->kind, "conv") != 0)
        return false;
    const mw_tensor *weight = mw__arg(op, "weight");
    const double flops = count_flops(op);
    const mw_shape shape = weight != NULL && weight->type->kind == MW__TENSOR ? weight->type->shape : (mw_shape){0};
    return shape.rank == 4 && shape.dim[2] == 3 && shape.dim[3] == 3 && flops >= known / 2 && flops <= known * 2;
}

/* A leaf is a rate of flops, whatever the bytes. */
static mw_chip_cost cost_by_leaf(double gflops, mw_chip_cost cost)
{
    cost.compute_us = cost.us = cost.flops / (gflops * 1e3);
    cost.bandwidth_us = 0.0;
    cost.bound = MW_CHIP_BOUND_COMPUTE;
    return cost;
}

mw_chip_cost mw__roof_estimate(const mw__roof_platform *platform, mw__roof_backend backend, const mw__op *op)
{
    static const double relu_gbytes = 100.0; /* on all three */
    mw_chip_rates rates = mw__roof_rates(platform, backend);
    if (strcmp(op->kind, "relu") == 0)
        rates.gbytes = relu_gbytes;
    const mw_chip_cost cost = mw__roof_cost(&rates, op);
    return has_leaf(platform, backend, op) ? cost_by_leaf(platform->conv_gflops, cost) : cost;
}
