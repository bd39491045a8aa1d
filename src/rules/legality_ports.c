/* Rows of inputs and outputs, and of what they become inside. */
#include "rules/legality.h"

static bool high_rank(const mw__legality *legality, const mw_tensor *port, bool is_output, mw__trip *trip)
{
    (void)is_output;
    trip->limit = mw__legality_chip(legality)->rank_max;
    trip->there = port->type->kind == MW__TENSOR ? port->type->shape.rank : 0;
    return trip->there > trip->limit;
}

static bool input_type(const mw__legality *legality, const mw_tensor *port, bool is_output, mw__trip *trip)
{
    const mw_dtype dtype = mw_tensor_dtype(port);
    (void)legality;
    trip->what = mw_dtype_name(dtype);
    return !is_output && dtype != MW_F16 && dtype != MW_U8 && port->type->kind != MW__STATE;
}

static bool output_type(const mw__legality *legality, const mw_tensor *port, bool is_output, mw__trip *trip)
{
    (void)legality;
    trip->what = mw_dtype_name(mw_tensor_dtype(port));
    return is_output && mw_tensor_dtype(port) != MW_F16;
}

static bool small_integers(const mw__legality *legality, const mw_tensor *port, bool is_output, mw__trip *trip)
{
    const mw_dtype dtype = mw_tensor_dtype(port);
    (void)legality;
    trip->what = mw_dtype_name(dtype);
    return !is_output && (dtype == MW_I8 || dtype == MW_I16 || dtype == MW_U16);
}

static bool long_port(const mw__legality *legality, const mw_tensor *port, bool is_output, mw__trip *trip)
{
    return !is_output && mw__legality_is_long(legality, port, trip);
}

static bool open_port(const mw__legality *legality, const mw_tensor *port, bool is_output, mw__trip *trip)
{
    (void)legality;
    (void)trip;
    return !is_output && port->type->kind == MW__TENSOR && mw_shape_count(mw_tensor_shape(port)) < 0;
}

static bool odd_port(const mw__legality *legality, const mw_tensor *port, bool is_output, mw__trip *trip)
{
    size_t size = 0;
    (void)legality;
    (void)is_output;
    if (port->type->kind != MW__TENSOR || !mw__type_bytes(port->type, &size) || size > (size_t)INT64_MAX)
        return false;
    trip->there = (int64_t)size;
    return size % 2 != 0;
}

static bool state_port(const mw__legality *legality, const mw_tensor *port, bool is_output, mw__trip *trip)
{
    (void)legality;
    (void)trip;
    return !is_output && port->type->kind == MW__STATE;
}

static bool direct_output(const mw__legality *legality, const mw_tensor *port, bool is_output, mw__trip *trip)
{
    (void)legality;
    (void)trip;
    return is_output && (port->op == NULL || port->payload != NULL);
}

static bool is_half(const mw__legality *legality, const mw_tensor *value)
{
    return mw__legality_half(legality, value) || (value != NULL && mw_tensor_dtype(value) == MW_F16);
}

/* Positions and counts. */
static bool half_integers(const mw__legality *legality, const mw__op *op, mw__trip *trip)
{
    for (size_t i = 0; op->row != NULL && i < op->slot_count; i++) {
        const mw__arg_row *arg = &op->row->args[i];
        if (arg->type != MW__INT && arg->type != MW__INDEX && arg->type != MW__I32)
            continue;
        for (size_t k = 0; k < op->slots[i].count; k++) {
            trip->tensor = op->slots[i].operands[k].value;
            if (is_half(legality, trip->tensor))
                return true;
        }
    }
    return false;
}

static const mw__legality_row rows[] = {
    {.id = "port_rank",
     .chips = MW__ON_ALL,
     .port = high_rank,
     .rule = "has rank {there}; the ANE has at most {limit} dimensions",
     .source = "MIL reference, maximum rank"},
    {.id = "input_type",
     .chips = MW__ON_ALL,
     .judges = MW__BY_DIRECT, /* ports of Core ML are those of the model, which the CPU converts */
     .port = input_type,
     .rule = "is {what}; the ANE takes fp16 and uint8",
     .source = "ANEForge, ports",
     .rewrite = MW__RULE_fp16},
    {.id = "output_type",
     .chips = MW__ON_ALL,
     .judges = MW__BY_DIRECT,
     .port = output_type,
     .rule = "is {what}; the ANE returns fp16; convert it with cast, or select between two numbers",
     .source = "ANEForge, ports",
     .rewrite = MW__RULE_fp16},
    {.id = "input_small_integers",
     .chips = MW__ON_NAMED,
     .verdict = MW__NOTED,
     .port = small_integers,
     .rule = "is {what}, which the ANE may take",
     .source = "ANEForge: its list of what it can has int8, int16 and uint16 ports, its programs fp16 and uint8. fp16 "
               "and uint8 are taken"},
    {.id = "input_extent",
     .chips = MW__ON_NAMED,
     .port = long_port,
     .rule = "has an axis of {there} elements; at most {limit} are taken",
     .source =
         "ane-guide, appendix A, measured on M1; ANEForge, limits by chip; " MW__SWEEP ", M4 and M6: 65536 is taken "
         "and 65537 refused",
     .rewrite = MW__RULE_blocks},
    {.id = "input_open",
     .chips = MW__ON_NAMED,
     .stage = MW__STAGE_LOWERING,
     .port = open_port,
     .rule = "has an extent that is not known when the program is compiled; choose its shape",
     .validator = "unsupported operation",
     .source = "ane-guide, chapter 22"},
    {.id = "port_size",
     .chips = MW__ON_NAMED,
     .stage = MW__STAGE_LOAD,
     .verdict = MW__NOTED,
     .port = odd_port,
     .rule = "has {there} bytes; its buffer is rounded up to an even number",
     .source = "ANEForge, ports"},
    {.id = "input_state",
     .chips = MW__ON_NAMED,
     .stage = MW__STAGE_LOWERING,
     .port = state_port,
     .rule = "is a state; it becomes a port that an output shares",
     .source = "operation sweep of ANEForge on M5"},
    {.id = "output_direct",
     .chips = MW__ON_NAMED,
     .stage = MW__STAGE_LOAD,
     .port = direct_output,
     .rule = "is an input or a constant: a program of nothing is not run",
     .validator = "unordered_map::at: key not found",
     .source = "ANEForge, issue 116"},
    {.id = "port_integers",
     .chips = MW__ON_ALL,
     .op = half_integers,
     .rule =
         "integer inputs are fp16 ports on the ANE, and those cannot say where or how many; make the number a constant",
     .source = "MIL reference, the argument takes integers"},
};

const mw__legality_family mw__legality_ports = {"ports", rows, sizeof rows / sizeof *rows};
