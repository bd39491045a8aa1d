/* Tables with holes, words and dates: the encoder of the library, by the settings of a recipe or by what a model says.
 */
#ifndef MW__TOOL_TRAIN_DATA_TABLE_H
#define MW__TOOL_TRAIN_DATA_TABLE_H

#include "tool/config.h"

#include <millwright/data.h>

/* What a table is opened for. */
typedef struct data_table_request {
    const char *path;
    mw_target_kind target;
    bool as_it_is;   /* values are not scaled */
    bool whole;      /* no share is kept out */
    int folds, fold; /* of a cross-validation, in place of the share; 0 = none */
    double share;    /* kept out where the settings do not say it */
} data_table_request;

/* How the settings ("data" of a recipe, may be NULL) say that the file is written. */
bool data_table_form(config *c, const config_node *settings, const char *path, mw_table_form *out);
/* Fits an encoder on the training part as the settings say, and opens both parts. NULL with the error set. */
mw_table_encoder *data_table_fit(config *c, const config_node *settings, const data_table_request *request,
                                 mw_dataset **out_training, mw_dataset **out_validation);

#endif
