/* Blocks moved between space, channels and batch. */
#ifndef MILLWRIGHT_OP_SPACE_H
#define MILLWRIGHT_OP_SPACE_H

#include <millwright/graph.h>

#ifdef __cplusplus
extern "C" {
#endif

#ifdef __cplusplus
}
#endif
#endif
