/* The devices of e5rt's mask, one row each. Code asks for a trait, never which device it
 * has. */
#ifndef MW__GRAPH_IR_DEVICE_TRAITS_H
#define MW__GRAPH_IR_DEVICE_TRAITS_H

#include "base/visible.h"
#include "graph/ir/ir.h"
#include <millwright/program.h>

/* The longest axis that every generation of the ANE takes. */
#define MW__DEVICE_AXIS_MAX 16384

typedef struct mw__device_traits {
    uint64_t mask;         /* its bit in e5rt's device mask */
    const char *name;      /* "ANE" */
    const char *engine;    /* what the engine computes in its place; NULL = it has no such device */
    bool half_ports;       /* every fp32 value and every int32 input is fp16; ports are fp16, inputs also uint8 */
    bool constant_weights; /* a convolution with a computed weight is decomposed */
    bool is_chip;          /* the rows of rules are about it */
    mw__lowering lowering; /* in which the patterns are written for it */
} mw__device_traits;

/* The device that computes a program compiled for a mask: the ANE if its bit is set, else the CPU, else the GPU. NULL
 * if the mask has none of them. */
MW__SIBLING const mw__device_traits *mw__device_find(uint64_t mask);

#endif
