#include "training_programs.h"

#define main              example_mnist_cnn
#define mw_trainer_create training_capture
#define mw_program_create training_capture_program
#include "../../../examples/mnist_cnn.c"
