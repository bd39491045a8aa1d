/* Everything: the one header that a program includes. */
#ifndef MILLWRIGHT_MILLWRIGHT_H
#define MILLWRIGHT_MILLWRIGHT_H

#include <millwright/autograd.h>
#include <millwright/dataset.h>
#include <millwright/graph.h>
#include <millwright/loss.h>
#include <millwright/mil.h>
#include <millwright/op_compare.h>
#include <millwright/op_elementwise.h>
#include <millwright/op_gather.h>
#include <millwright/op_matmul.h>
#include <millwright/op_normalize.h>
#include <millwright/op_reduce.h>
#include <millwright/op_shape.h>
#include <millwright/optimizer.h>
#include <millwright/program.h>
#include <millwright/status.h>
#include <millwright/trainer.h>
#include <millwright/types.h>

#endif
