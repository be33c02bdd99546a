<?php
/**
 * The names under which this plugin keeps things, and where: `uninstall.php` deletes them there.
 *
 * @package Slopsieve
 */

namespace Slopsieve;

if ( ! defined( 'ABSPATH' ) ) {
	exit;
}

// Options: address and key; what the service said of itself; ids of comments to withdraw there.
const SETTINGS   = 'slopsieve_settings';
const CONNECTION = 'slopsieve_connection';
const WITHDRAWN  = 'slopsieve_withdrawn';
// For a minute, what came of a test of the connection; the test's name, too.
const TEST = 'slopsieve_test';

// Of a comment: how far it has come, what WordPress itself would have done with it, the id under
// which it was sent, when it was sent last, its id at the service, what its form brought, what was
// concluded, and a decision that the service does not know yet.
const STATE   = '_slopsieve_state';
const WISH    = '_slopsieve_wish';
const SENT_AS = '_slopsieve_sent_as';
const ASKED   = '_slopsieve_asked';
const THERE   = '_slopsieve_id';
const FORM    = '_slopsieve_form';
const VERDICT = '_slopsieve_verdict';
const TELL    = '_slopsieve_tell';
const METAS   = array( STATE, WISH, SENT_AS, ASKED, THERE, FORM, VERDICT, TELL );

const WAITING = 'waiting';
const JUDGED  = 'judged';
const REFUSED = 'refused';

// Scheduled: what failed is tried again; now and then all is looked through.
const RETRY = 'slopsieve_retry';
const SWEEP = 'slopsieve_sweep';

/** Do something in each blog of the network, or in the only one that there is. */
function in_every_blog( callable $what ): void {
	if ( ! is_multisite() ) {
		$what();
		return;
	}
	foreach ( get_sites( array( 'fields' => 'ids', 'number' => 0 ) ) as $blog ) {
		switch_to_blog( $blog );
		$what();
		restore_current_blog();
	}
}
