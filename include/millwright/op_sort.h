/* Sorting and the largest elements. */
#ifndef MILLWRIGHT_OP_SORT_H
#define MILLWRIGHT_OP_SORT_H

#include <millwright/graph.h>

#ifdef __cplusplus
extern "C" {
#endif

#ifdef __cplusplus
}
#endif
#endif
