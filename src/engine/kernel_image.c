/* Resizing and cropping of images: kernels of ops/image.def. */
#include "engine/kernel.h"
