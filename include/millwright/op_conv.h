/* Convolution and its transpose. */
#ifndef MILLWRIGHT_OP_CONV_H
#define MILLWRIGHT_OP_CONV_H

#include <millwright/graph.h>

#ifdef __cplusplus
extern "C" {
#endif

#ifdef __cplusplus
}
#endif
#endif
