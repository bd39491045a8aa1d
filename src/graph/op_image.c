/* Resizing and cropping of images: shape rules and constructors of ops/image.def. */
#include <millwright/op_image.h>

#include "graph/rule.h"
