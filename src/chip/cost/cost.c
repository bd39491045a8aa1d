/* The larger of compute, bandwidth and floor. */
#include "chip/cost/cost.h"

#include "chip/cost/place.h"

#include <float.h>
#include <math.h>
#include <string.h>

const char *mw_chip_bound_name(mw_chip_bound bound)
{
    static const char *const names[] = {"floor", "compute", "bandwidth"};
    return (unsigned)bound < sizeof names / sizeof *names ? names[bound] : NULL;
}

/* amount / rate, where a rate is in thousands in a microsecond: 1e9 in a second. */
static double time_of(double amount, double rate)
{
    return amount <= 0.0 ? 0.0 : rate > 0.0 ? mw__chip_cost_limit(amount / (rate * 1e3)) : DBL_MAX;
}

static double compute_us(const mw_chip_rates *rates, double flops)
{
    double rate = rates->gflops;
    if (rates->ramp_flops > 0.0 && flops > 0.0 && flops < rates->ramp_flops)
        rate *= pow(flops / rates->ramp_flops, rates->ramp_power);
    return time_of(flops, rate);
}

mw_chip_cost mw_chip_cost_of(const mw_chip_rates *rates, double flops, uint64_t bytes)
{
    if (rates == NULL)
        return (mw_chip_cost){0};
    mw_chip_cost cost = {
        .flops = flops > 0.0 ? mw__chip_cost_limit(flops) : 0.0, .bytes = bytes, .floor_us = rates->floor_us};
    cost.compute_us = compute_us(rates, cost.flops);
    cost.bandwidth_us = time_of((double)bytes, rates->gbytes);
    cost.us = cost.floor_us;
    if (cost.bandwidth_us > cost.us)
        cost.us = cost.bandwidth_us, cost.bound = MW_CHIP_BOUND_BANDWIDTH;
    if (cost.compute_us > cost.us || (cost.compute_us == cost.us && cost.bound != MW_CHIP_BOUND_FLOOR))
        cost.us = cost.compute_us, cost.bound = MW_CHIP_BOUND_COMPUTE;
    return cost;
}

double mw_chip_program_us(const mw_chip_rates *rates, const mw_chip_cost *costs, size_t count)
{
    double sum = rates != NULL ? rates->floor_us : 0.0;
    for (size_t i = 0; rates != NULL && costs != NULL && i < count; i++)
        sum += costs[i].compute_us > costs[i].bandwidth_us ? costs[i].compute_us : costs[i].bandwidth_us;
    return mw__chip_cost_limit(sum);
}

/* ---- operations ---- */

mw_chip_cost mw__chip_op_cost(const mw_chip_rates *rates, const mw__op *op)
{
    if (mw__chip_place_is_constant(op))
        return mw_chip_cost_of(rates, 0.0, 0);
    const mw__traffic traffic = mw__op_traffic(op);
    const uint64_t read = mw__add_saturated(traffic.values, traffic.weights);
    return mw_chip_cost_of(rates, mw__op_products(op), mw__add_saturated(read, traffic.results));
}

/* ---- layers ---- */

static bool makes(const mw__op *const *ops, size_t count, const mw_tensor *value)
{
    for (size_t i = 0; i < count; i++)
        if (value->op == ops[i])
            return true;
    return false;
}

static bool reads(const mw__op *op, const mw_tensor *value)
{
    for (size_t s = 0; s < op->slot_count; s++)
        for (size_t i = 0; i < op->slots[s].count; i++)
            if (op->slots[s].operands[i].value == value)
                return true;
    return false;
}

static bool one_reads(const mw__op *const *ops, size_t count, const mw_tensor *value)
{
    for (size_t i = 0; i < count; i++)
        if (reads(ops[i], value))
            return true;
    return false;
}

/* Of the operation's operands those that come from outside, and that none before it has read. */
static uint64_t bytes_in(const mw__op *const *ops, size_t at)
{
    uint64_t sum = 0;
    const mw__op *op = ops[at];
    for (size_t s = 0; s < op->slot_count; s++)
        for (size_t i = 0; i < op->slots[s].count; i++) {
            const mw_tensor *value = op->slots[s].operands[i].value;
            if (value != NULL && !makes(ops, at, value) && !one_reads(ops, at, value))
                sum = mw__add_saturated(sum, mw__operand_bytes(op, s, i));
        }
    return sum;
}

static uint64_t bytes_out(const mw__op *const *ops, size_t count, const mw__op *op)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < op->result_count; i++)
        if (op->results[i]->is_output || !one_reads(ops, count, op->results[i]))
            sum = mw__add_saturated(sum, mw__value_bytes(op->results[i]));
    return sum;
}

mw_chip_cost mw__chip_layer_cost(const mw_chip_rates *rates, const mw__op *const *ops, size_t count)
{
    double flops = 0.0;
    uint64_t bytes = 0;
    for (size_t i = 0; i < count; i++) {
        if (mw__chip_place_is_constant(ops[i]))
            continue;
        flops += mw__op_products(ops[i]);
        bytes = mw__add_saturated(bytes, bytes_in(ops, i));
        bytes = mw__add_saturated(bytes, bytes_out(ops, count, ops[i]));
    }
    return mw_chip_cost_of(rates, flops, bytes);
}
