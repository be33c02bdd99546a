<?php
/**
 * Holds each new comment until it is judged, and applies the verdict.
 *
 * @package Slopsieve
 */

namespace Slopsieve;

if ( ! defined( 'ABSPATH' ) ) {
	exit;
}

// How long a visitor waits for the page; a later verdict arrives by callback.
const VERDICT_SECONDS = 3.0;
const ANSWER_SECONDS  = 5.0;
// The longest time that a request may take.
const BUSY_SECONDS      = 15;
const MOST_REASONS      = 4;
const MOST_REASON_CHARS = 500;
const MOST_SPANS        = 10;

add_filter( 'pre_comment_approved', __NAMESPACE__ . '\\hold_new', 999, 2 );
add_action( 'wp_insert_comment', __NAMESPACE__ . '\\judge_new', 100, 2 );
add_filter( 'comment_text', __NAMESPACE__ . '\\link_statement', 99, 2 );
add_filter( 'notify_moderator', __NAMESPACE__ . '\\keep_quiet_of_unjudged', 10, 2 );

/**
 * Hold a comment that WordPress would publish or hold in Pending, until it is judged.
 *
 * Spam and trash by the blog's own rules are unchanged. Moderators' comments are not judged.
 *
 * @param int|string|\WP_Error $approved What WordPress would do.
 * @param array                $data     The comment.
 * @return int|string|\WP_Error
 */
function hold_new( $approved, $data ) {
	new_comment( null );
	if ( is_wp_error( $approved ) || ! in_array( (string) $approved, array( '0', '1' ), true ) || ! is_set_up() || is_own( $data ) ) {
		return $approved;
	}
	new_comment(
		array(
			'post' => (int) $data['comment_post_ID'],
			'wish' => (int) $approved,
		)
	);
	return 0;
}

/**
 * Submit a new comment. Imports are left alone, because they do not call `pre_comment_approved`.
 *
 * @param int         $id      Its id.
 * @param \WP_Comment $comment The comment.
 */
function judge_new( $id, $comment ): void {
	$new = new_comment();
	if ( null === $new || (int) $comment->comment_post_ID !== $new['post'] ) {
		return;
	}
	new_comment( null );
	add_comment_meta( $id, WISH, $new['wish'], true );
	add_comment_meta( $id, STATE, WAITING, true );
	$form = form_evidence();
	if ( $form ) {
		add_comment_meta( $id, FORM, $form, true );
	}
	// WordPress notifies the post's author itself at the end of a new comment.
	add_filter( 'notify_post_author', '__return_false', 999 );
	if ( ! ask_about( (int) $id ) ) {
		retry_soon();
	}
	remove_filter( 'notify_post_author', '__return_false', 999 );
}

/**
 * Return the comment that is about to be inserted, after replacing it if one is given.
 *
 * @param array|null ...$given Nothing to read it, or the new value.
 */
function new_comment( ...$given ): ?array {
	static $new = null;
	if ( $given ) {
		$new = $given[0];
	}
	return $new;
}

/** Return true if the comment's author may moderate it. */
function is_own( array $data ): bool {
	$user = (int) ( $data['user_id'] ?? $data['user_ID'] ?? 0 );
	$post = get_post( (int) ( $data['comment_post_ID'] ?? 0 ) );
	return $user && ( user_can( $user, 'moderate_comments' ) || ( $post && (int) $post->post_author === $user ) );
}

/** Submit a comment or read its verdict; return true if there is one, null if the service failed. */
function ask_about( int $id ): ?bool {
	$comment = get_comment( $id );
	if ( ! $comment || WAITING !== get_comment_meta( $id, STATE, true ) ) {
		return true;
	}
	update_comment_meta( $id, ASKED, time() );
	$there = get_comment_meta( $id, THERE, true );
	if ( $there ) {
		$answer = ask_service( 'GET', '/v1/comments/' . rawurlencode( $there ) );
	} else {
		$body = as_sent( $comment );
		update_comment_meta( $id, SENT_AS, $body['site_comment_id'] );
		$answer = ask_service( 'POST', '/v1/comments?wait=' . VERDICT_SECONDS, $body, ANSWER_SECONDS );
	}
	delete_comment_meta( $id, ASKED );
	if ( is_case( $answer ) ) {
		update_comment_meta( $id, THERE, sanitize_text_field( $answer['body']['id'] ) );
		return settle( $id, $answer['body'] );
	}
	if ( is_unknown( $answer ) ) {
		// The service does not have it, so it is submitted again.
		delete_comment_meta( $id, THERE );
		return false;
	}
	if ( is_refused( $answer ) ) {
		keep_verdict( $id, REFUSED, array( 'reasons' => array( short( $answer['problem'] ) ) ) );
		return true;
	}
	return null;
}

/** Apply the verdict to a waiting comment; return true if there is a verdict or a decision. */
function settle( int $id, array $case ): bool {
	if ( empty( $case['verdict'] ) && empty( $case['decision'] ) ) {
		return false;
	}
	keep_verdict( $id, JUDGED, summary_of( $case, get_comment( $id ) ) );
	clean_comment_cache( $id );
	// A person's decision in the meantime takes precedence.
	if ( 'unapproved' === wp_get_comment_status( $id ) && ! get_comment_meta( $id, TELL, true ) ) {
		move( $id, place_of( $id, $case ) );
	}
	return true;
}

/** Store the verdict, and delete the form's evidence. */
function keep_verdict( int $id, string $state, array $summary ): void {
	update_comment_meta( $id, VERDICT, wp_slash( $summary ) );
	update_comment_meta( $id, STATE, $state );
	delete_comment_meta( $id, FORM );
}

/** Return the summary for the comments list, which has spans but no text of the comment. */
function summary_of( array $case, \WP_Comment $comment ): array {
	$verdict = is_array( $case['verdict'] ?? null ) ? $case['verdict'] : array();
	$spans   = $verdict['promo_spans'] ?? array();
	foreach ( $verdict['signals'] ?? array() as $signal ) {
		if ( ! $spans && $signal['contribution'] > 0 ) {
			$spans = $signal['spans'];
		}
	}
	return array(
		'outcome'  => sanitize_key( $verdict['outcome'] ?? '' ),
		'p_spam'   => (float) ( $verdict['p_spam'] ?? 0 ),
		'degraded' => ! empty( $verdict['degraded'] ),
		'reasons'  => array_map( __NAMESPACE__ . '\\short', array_slice( (array) ( $verdict['explanation'] ?? array() ), 0, MOST_REASONS ) ),
		'spans'    => array_map( fn( $span ) => array( (int) $span['start'], (int) $span['end'] ), array_slice( $spans, 0, MOST_SPANS ) ),
		'of'       => md5( text_of( $comment ) ),
		'why'      => esc_url_raw( (string) ( $case['statement_url'] ?? '' ) ),
	);
}

/** Return a sentence of the service, cut; it is escaped when it is printed. */
function short( string $sentence ): string {
	return mb_substr( wp_check_invalid_utf8( $sentence, true ), 0, MOST_REASON_CHARS );
}

/** Return a comment's status by the service's case: '1', '0' or 'spam'. */
function place_of( int $id, array $case ): string {
	$ruling = $case['decision']['ruling'] ?? null;
	if ( null !== $ruling ) {
		return 'approve' === $ruling ? '1' : 'spam';
	}
	if ( 'publish' === ( $case['action'] ?? '' ) ) {
		return (string) (int) get_comment_meta( $id, WISH, true );
	}
	return 'spam' === ( $case['verdict']['outcome'] ?? '' ) ? 'spam' : '0';
}

/** Change a comment's status for the service; this is not sent as a decision. */
function move( int $id, string $place ): void {
	$now = (string) get_comment( $id )->comment_approved;
	if ( $now === $place || ( 'trash' === $now && 'spam' === $place ) ) {
		return;
	}
	is_moving( true );
	if ( 'spam' === $place ) {
		wp_spam_comment( $id );
		// "Not spam" restores the status that WordPress would have set.
		update_comment_meta( $id, '_wp_trash_meta_status', get_comment_meta( $id, WISH, true ) ? '1' : '0' );
	} else {
		wp_set_comment_status( $id, '1' === $place ? 'approve' : 'hold' );
		delete_comment_meta( $id, '_wp_trash_meta_status' );
		delete_comment_meta( $id, '_wp_trash_meta_time' );
	}
	is_moving( false );
}

/**
 * Return true while this plugin changes a comment's status.
 *
 * @param bool ...$given Nothing to read it, or the new value.
 */
function is_moving( ...$given ): bool {
	static $moving = false;
	if ( $given ) {
		$moving = $given[0];
	}
	return $moving;
}

/**
 * Send no e-mail about a comment without a verdict, as most of those are spam.
 *
 * @param bool $notify Whether to send an e-mail.
 * @param int  $id     The comment.
 */
function keep_quiet_of_unjudged( $notify, $id ) {
	return WAITING === get_comment_meta( $id, STATE, true ) ? false : $notify;
}

/**
 * Add a link to reason and appeal to a held comment, which only its author sees.
 *
 * @param string           $text    The comment as HTML.
 * @param \WP_Comment|null $comment The comment.
 */
function link_statement( $text, $comment = null ) {
	if ( ! is_singular() || ! $comment instanceof \WP_Comment || '0' !== (string) $comment->comment_approved ) {
		return $text;
	}
	$verdict = get_comment_meta( $comment->comment_ID, VERDICT, true );
	$url     = is_array( $verdict ) ? (string) ( $verdict['why'] ?? '' ) : '';
	if ( '' === $url ) {
		return $text;
	}
	// Without SLOPSIEVE_PAGES_URL the service returns a path.
	$url = '/' === $url[0] ? service_address() . $url : $url;
	return $text . sprintf( '<p><a href="%s" rel="nofollow noreferrer">%s</a></p>', esc_url( $url ), esc_html__( 'Why this comment is held, and how to appeal', 'slopsieve' ) );
}
