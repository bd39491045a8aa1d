/* The one intermediate representation: MIL in memory. Everything is append-only and lives in the arena of its graph;
 * a rewrite is a copy with substitution (graph/transform/clone.h). This header is its four parts. */
#ifndef MW__GRAPH_IR_H
#define MW__GRAPH_IR_H

#include "graph/ir_make.h"
#include "graph/ir_types.h"
#include "graph/op_build.h"
#include "graph/op_table.h"

#endif
