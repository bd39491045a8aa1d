/* Random numbers. */
#ifndef MILLWRIGHT_OP_RANDOM_H
#define MILLWRIGHT_OP_RANDOM_H

#include <millwright/graph.h>

#ifdef __cplusplus
extern "C" {
#endif

#ifdef __cplusplus
}
#endif
#endif
