#include "symbol_rows.h"

#define MW_E5RT_GROUP(object, sentence) {SYMBOL_GROUP, object, "", "", "", sentence},
#define MW_E5RT(name, parameters, confidence, source, what)                                                            \
    {SYMBOL_HAS, "e5rt_" #name, #parameters, #confidence, source, what},
#define MW_E5RT_TEXT(name, parameters, confidence, source, what)                                                       \
    {SYMBOL_TEXT, "e5rt_" #name, #parameters, #confidence, source, what},
#define MW_E5RT_ABSENT(name, parameters, confidence, source, why)                                                      \
    {SYMBOL_ABSENT, "e5rt_" #name, #parameters, #confidence, source, why},
#define MW_E5RT_UNKNOWN(name, confidence, source)                                                                      \
    {SYMBOL_UNKNOWN, "e5rt_" #name, "(...)", #confidence, source, "its parameters are not known"},

const symbol_row symbol_rows[] = {
#include "engine/surface/symbols.def"
};
const size_t symbol_count = sizeof symbol_rows / sizeof *symbol_rows;
