<?php
/**
 * Leaves nothing behind: options, what was kept of comments, schedules, and the callback there.
 *
 * @package Slopsieve
 */

namespace Slopsieve;

if ( ! defined( 'WP_UNINSTALL_PLUGIN' ) ) {
	exit;
}

const VERSION = 'uninstall';

require_once __DIR__ . '/includes/names.php';
require_once __DIR__ . '/includes/service.php';

/** Delete everything of one blog. */
function forget_blog(): void {
	if ( is_set_up() ) {
		ask_service( 'DELETE', '/v1/site/callback', null, 3.0 );
	}
	foreach ( array( SETTINGS, CONNECTION, WITHDRAWN ) as $option ) {
		delete_option( $option );
	}
	delete_transient( TEST );
	foreach ( METAS as $key ) {
		delete_metadata( 'comment', 0, $key, '', true );
	}
	wp_clear_scheduled_hook( RETRY );
	wp_clear_scheduled_hook( SWEEP );
}

if ( is_multisite() ) {
	foreach ( get_sites( array( 'fields' => 'ids', 'number' => 0 ) ) as $slopsieve_blog ) {
		switch_to_blog( $slopsieve_blog );
		forget_blog();
		restore_current_blog();
	}
} else {
	forget_blog();
}
