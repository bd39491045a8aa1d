/* Activations. */
#ifndef MILLWRIGHT_OP_ACTIVATION_H
#define MILLWRIGHT_OP_ACTIVATION_H

#include <millwright/graph.h>

#ifdef __cplusplus
extern "C" {
#endif

#ifdef __cplusplus
}
#endif
#endif
