/* Attention. */
#ifndef MILLWRIGHT_OP_ATTENTION_H
#define MILLWRIGHT_OP_ATTENTION_H

#include <millwright/graph.h>

#ifdef __cplusplus
extern "C" {
#endif

#ifdef __cplusplus
}
#endif
#endif
