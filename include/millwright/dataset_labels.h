/* What data sets of files with labels share: pictures (<millwright/dataset_images.h>) and sounds
 * (<millwright/dataset_sounds.h>). A folder for each class, or a table of names and labels; what becomes of a file that
 * cannot be read.
 *
 *     options.table.path = "labels.csv";
 *     options.broken = MW_BROKEN_SKIP;
 *
 * Threads: as <millwright/dataset.h>. */
#ifndef MILLWRIGHT_DATASET_LABELS_H
#define MILLWRIGHT_DATASET_LABELS_H

#include <millwright/dataset.h>

#ifdef __cplusplus
extern "C" {
#endif

/** A CSV file that says which files there are, and what they show. It has at most 65536 files and as many labels;
 *  classes are ordered as those of any table (mw_dataset_open_csv), several labels by their names. */
typedef struct mw_label_table {
    const char *path;     /* NULL (default): there is none, and each class has its folder */
    const char *name;     /* the field with the names of the files, below the folder of the call; "name" */
    const char *label;    /* the field with the labels; "label" */
    char separator;       /* of fields, as mw_table_options; ',' */
    char label_separator; /* '\0' (default): a file has one label, and "y" is I64, the number of its class; else, one
                           * of ' ', ';', '|' and ',' but not that of the fields, it has several with this between
                           * them, and "y" is F32 [classes], 1 for its own and 0 for others; alone it means none */
} mw_label_table;

/** What becomes of a file that cannot be read. */
typedef enum mw_broken {
    MW_BROKEN_REFUSE, /* the set is not opened (default) */
    MW_BROKEN_SKIP,   /* it is left out */
    MW_BROKEN_LATE    /* opening does not look, and keeps nothing: an error of the batch that it belongs to */
} mw_broken;

/** Told of each file that cannot be read when a set is opened, in their order.
 *  name    below the folder
 *  reason  a sentence that names it, too */
typedef void mw_broken_function(void *user, const char *name, const char *reason);

#ifdef __cplusplus
}
#endif
#endif
