/* Pooling windows. */
#ifndef MILLWRIGHT_OP_POOL_H
#define MILLWRIGHT_OP_POOL_H

#include <millwright/graph.h>

#ifdef __cplusplus
extern "C" {
#endif

#ifdef __cplusplus
}
#endif
#endif
