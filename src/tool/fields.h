/* The fields of a recipe: a row each, from which the checks of a file and `mw help recipe` come. A field that is
 * written but has no effect beside the others is an error, too. */
#ifndef MW__TOOL_FIELDS_H
#define MW__TOOL_FIELDS_H

#include "tool/config.h"

/* Bounds that options of the command share. */
#define RECIPE_EPOCHS_MAX  1000000
#define RECIPE_BATCH_MAX   (1 << 20)
#define RECIPE_SEED_MAX    4503599627370495.0 /* seeds of epochs and layers are made of it */
#define RECIPE_THREADS_MAX 1024
#define RECIPE_RATE_MIN    1e-12
#define RECIPE_RATE_MAX    1e3
#define RECIPE_LOSSES      "cross_entropy, mse, l1, huber, binary_cross_entropy, focal, dice, quantile, poisson, cosine"
#define RECIPE_OPTIMIZERS  "adam, adamw, sgd, rmsprop, adagrad, lion, muon"
#define RECIPE_DEVICES     "auto, cpu, gpu, ane"

/* Members of an object of the recipe, by the path that the table has: "optimizer.momentum". The key is what follows the
 * last dot. Only fields that have an effect are asked for; config_finish complains about the others. */
const char *field_text(config *c, const config_node *object, const char *path, const char *otherwise);
double field_number(config *c, const config_node *object, const char *path, double otherwise);
int64_t field_integer(config *c, const config_node *object, const char *path, int64_t otherwise);
bool field_bool(config *c, const config_node *object, const char *path, bool otherwise);
/* The index among the choices of the row. */
int field_choice(config *c, const config_node *object, const char *path, int otherwise);
const config_node *field_object(config *c, const config_node *object, const char *path);
/* Whether the table has a row for it. */
bool field_is_there(const char *path);

/* For config_check and config_finish (config_keys), by the rows. */
const char *field_condition(const char *object, const char *key);
bool field_has_members(const char *object);
void field_offer(const config_node *object, mw__spelling *spelling);
const char *field_owner(const char *key);

#endif
