/* How often an operation stands in a block, for tests of what was built. */
#ifndef TESTS_SUPPORT_OP_COUNT_H
#define TESTS_SUPPORT_OP_COUNT_H

#include "graph/ir/ir.h"

size_t op_count(const mw__block *block, const char *kind);

#endif
