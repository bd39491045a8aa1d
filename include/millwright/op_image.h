/* Resizing and cropping of images. */
#ifndef MILLWRIGHT_OP_IMAGE_H
#define MILLWRIGHT_OP_IMAGE_H

#include <millwright/graph.h>

#ifdef __cplusplus
extern "C" {
#endif

#ifdef __cplusplus
}
#endif
#endif
