#include "training_programs.h"

#define main              example_fashion_cnn
#define mw_trainer_create training_capture
#define mw_program_create training_capture_program
#include "../../../examples/fashion_cnn.c"
