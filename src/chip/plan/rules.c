/* The rows of rules.def, and the names of what plans are made of. */
#include "chip/plan/plan.h"

const mw_chip_plan_rule mw__chip_plan_rules[MW__PLAN_RULE_COUNT] = {
#define MW_PLAN_RULE(id_, pattern_, becomes_, pass_, source_)                                                          \
    [MW__PLAN_##id_] = {.id = #id_, .pattern = pattern_, .becomes = becomes_, .pass = pass_, .source = source_},
#include "chip/plan/rules.def"
#undef MW_PLAN_RULE
};

const mw_chip_plan_rule *mw_chip_plan_rule_at(size_t index)
{
    return index < MW__PLAN_RULE_COUNT ? &mw__chip_plan_rules[index] : NULL;
}

#define NAME_AT(names, index) ((size_t)(index) < sizeof(names) / sizeof *(names) ? (names)[index] : NULL)

const char *mw_chip_engine_name(mw_chip_engine engine)
{
    static const char *const names[] = {"neural", "planar", "texture", "transpose", "bridge"};
    return NAME_AT(names, engine);
}

const char *mw_chip_slot_name(mw_chip_slot slot)
{
    static const char *const names[] = {"operation", "texture",   "broadcast", "before",  "gain",      "offset",
                                        "after",     "transpose", "quantize",  "operand", "eliminated"};
    return NAME_AT(names, slot);
}

const char *mw_chip_allocation_name(mw_chip_allocation allocation)
{
    static const char *const names[] = {"resident",           "streamed", "chained",        "dependent",    "in_place",
                                        "in_place_dependent", "ring",     "ring_dependent", "in_place_dram"};
    return NAME_AT(names, allocation);
}

const char *mw_chip_time_basis_name(mw_chip_time_basis basis)
{
    static const char *const names[] = {"measured", "compiler", "borrowed", "model"};
    return (unsigned)basis < sizeof names / sizeof *names ? names[basis] : NULL;
}
