/* The one intermediate representation: MIL in memory. Everything is append-only and lives in the arena of its graph;
 * a rewrite is a copy with substitution (graph/transform/clone/clone.h). This header is its four parts. */
#ifndef MW__GRAPH_IR_IR_H
#define MW__GRAPH_IR_IR_H

#include "graph/ir/ir_make.h"
#include "graph/ir/ir_types.h"
#include "graph/ir/op_build.h"
#include "graph/ir/op_table.h"

#endif
