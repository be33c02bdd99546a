<?php
/**
 * The names of stored options, comment meta and schedules, which `uninstall.php` deletes.
 *
 * @package Slopsieve
 */

namespace Slopsieve;

if ( ! defined( 'ABSPATH' ) ) {
	exit;
}

// Options: address and key; the state of the connection; ids of comments to withdraw.
const SETTINGS   = 'slopsieve_settings';
const CONNECTION = 'slopsieve_connection';
const WITHDRAWN  = 'slopsieve_withdrawn';
// A transient with the result of a connection test, and the test's action.
const TEST = 'slopsieve_test';

// Comment meta: state, status that WordPress would have set, id that was sent, time of the running
// request, id at the service, evidence of the form, verdict, and decision to send.
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

// Schedules: a retry after a failure, and an hourly sweep.
const RETRY = 'slopsieve_retry';
const SWEEP = 'slopsieve_sweep';

/** Call a function in each blog of the network, or in the only blog. */
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
